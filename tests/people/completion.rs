//! `streamstack completion`.

use crate::serving::program;
use crate::terminal::finish;

#[test]
fn every_shell_gets_a_script_with_all_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = finish(&mut program(&["completion", shell]), b"");
        assert_eq!((ran.code, ran.errors.as_str()), (0, ""), "{shell}");
        for word in ["produce", "commits", "key-separator", "read_committed"] {
            assert!(ran.out.contains(word), "{shell} has no {word}");
        }
    }
    assert_eq!(finish(&mut program(&["completion", "tcsh"]), b"").code, 2);
}

#[test]
fn every_command_explains_itself() {
    for command in ["produce", "read", "feed", "commits", "stream", "doctor", "completion"] {
        let ran = finish(&mut program(&[command, "--help"]), b"");
        assert_eq!(ran.code, 0, "{command}");
        assert!(
            ran.out.contains("Examples:\n  ") && ran.out.contains(&format!("streamstack {command}")),
            "{}",
            ran.out
        );
    }
}
