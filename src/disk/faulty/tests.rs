use super::*;

fn read(disk: &FaultyDisk, path: &str) -> Vec<u8> {
    let file = disk.open(Path::new(path), OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn a_name_needs_its_folders_sync_and_bytes_need_the_files() {
    let disk = FaultyDisk::new();
    let folder = Path::new("/d");
    disk.create_dir_all(folder).unwrap();
    let file = disk.open(&folder.join("f"), OpenMode::Create).unwrap();
    file.write_all_at(b"one", 0).unwrap();
    file.sync_data().unwrap();
    let lost = disk.crash_image(CrashPolicy::DropAll);
    assert!(!lost.exists(folder).unwrap());
    disk.sync_dir(folder).unwrap();
    assert!(!disk.crash_image(CrashPolicy::DropAll).exists(folder).unwrap(), "the folder itself has a name too");
    disk.sync_dir(Path::new("/")).unwrap();
    file.write_all_at(b"two", 0).unwrap();
    assert_eq!(read(&disk.crash_image(CrashPolicy::DropAll), "/d/f"), b"one");
    assert_eq!(read(&disk.crash_image(CrashPolicy::KeepAll), "/d/f"), b"two");
    assert_eq!(read(&disk.kill_image(), "/d/f"), b"two");
}
