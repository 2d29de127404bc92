//! The types of configs, what a value may be, and the canonical text of a value, in Kafka's words.

use super::identity::Identity;

/// Kafka's types of configs. The numbers are those of DescribeConfigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigType {
    Boolean = 1,
    String = 2,
    Int = 3,
    Short = 4,
    Long = 5,
    Double = 6,
    List = 7,
    Class = 8,
    Password = 9,
}

impl ConfigType {
    /// The number that DescribeConfigs gives.
    pub fn code(self) -> i8 {
        self as i8
    }

    /// Kafka's name of the type.
    pub fn name(self) -> &'static str {
        match self {
            ConfigType::Boolean => "BOOLEAN",
            ConfigType::String => "STRING",
            ConfigType::Int => "INT",
            ConfigType::Short => "SHORT",
            ConfigType::Long => "LONG",
            ConfigType::Double => "DOUBLE",
            ConfigType::List => "LIST",
            ConfigType::Class => "CLASS",
            ConfigType::Password => "PASSWORD",
        }
    }
}

/// What a value may be, beyond its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    Any,
    AtLeast(i64),
    /// Both included.
    Between(i64, i64),
    /// Both included, or one number more.
    BetweenOr(i64, i64, i64),
    /// Both included, for doubles.
    Ratio(f64, f64),
    OneOf(&'static [&'static str]),
    /// As `OneOf`, in any case.
    OneOfAnyCase(&'static [&'static str]),
    /// Every element of a list.
    SomeOf(&'static [&'static str]),
    /// `*`, or `partition:broker` pairs.
    Replicas,
    /// See [`Identity`].
    Identity,
}

impl Allowed {
    /// What is allowed, for an operator to read; empty when anything is.
    pub fn describe(self) -> String {
        match self {
            Allowed::Any => String::new(),
            Allowed::AtLeast(min) => format!("at least {min}"),
            Allowed::Between(min, max) => format!("{min} to {max}"),
            Allowed::BetweenOr(min, max, also) => format!("{min} to {max}, or {also}"),
            Allowed::Ratio(min, max) => format!("{min} to {max}"),
            Allowed::OneOf(names) | Allowed::OneOfAnyCase(names) => names.join(", "),
            Allowed::SomeOf(names) => format!("any of {}", names.join(", ")),
            Allowed::Replicas => "* or partition:broker pairs".to_owned(),
            Allowed::Identity => "key+value, key, value, or header:NAME".to_owned(),
        }
    }
}

/// A value that its config does not take, worded as Kafka words it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid value {value} for configuration {name}: {why}")]
pub struct InvalidValue {
    pub name: String,
    pub value: String,
    pub why: String,
}

/// Checks `text` and gives its canonical form: trimmed, `true`/`false`, plain numbers, lists without blanks.
pub fn check(name: &str, kind: ConfigType, allowed: Allowed, text: &str) -> Result<String, InvalidValue> {
    let text = text.trim();
    let invalid = |value: String, why: String| InvalidValue { name: name.to_owned(), value, why };
    let not_a_number = || invalid(text.to_owned(), format!("Not a number of type {}", kind.name()));
    match kind {
        ConfigType::Boolean => boolean(text)
            .map(|value| value.to_string())
            .ok_or_else(|| invalid(text.to_owned(), "Expected value to be either true or false".to_owned())),
        ConfigType::Int | ConfigType::Short | ConfigType::Long => {
            let number = integer(kind, text).ok_or_else(not_a_number)?;
            check_integer(allowed, number).map_err(|why| invalid(number.to_string(), why))?;
            Ok(number.to_string())
        }
        ConfigType::Double => {
            let number: f64 = text.parse().map_err(|_| not_a_number())?;
            check_double(allowed, number).map_err(|why| invalid(format!("{number:?}"), why))?;
            Ok(format!("{number:?}").replace('e', "E"))
        }
        ConfigType::List => check_list(name, allowed, text),
        ConfigType::String | ConfigType::Class | ConfigType::Password => {
            check_string(allowed, text).map_err(|why| invalid(text.to_owned(), why))?;
            Ok(text.to_owned())
        }
    }
}

/// `true` or `false` in any case.
pub fn boolean(text: &str) -> Option<bool> {
    match () {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// The elements of a list; none when it is empty.
pub fn list(text: &str) -> Vec<&str> {
    if text.trim().is_empty() { Vec::new() } else { text.split(',').map(str::trim).collect() }
}

fn integer(kind: ConfigType, text: &str) -> Option<i64> {
    match kind {
        ConfigType::Int => text.parse::<i32>().ok().map(i64::from),
        ConfigType::Short => text.parse::<i16>().ok().map(i64::from),
        _ => text.parse::<i64>().ok(),
    }
}

fn check_integer(allowed: Allowed, number: i64) -> Result<(), String> {
    match allowed {
        Allowed::AtLeast(min) | Allowed::Between(min, _) if number < min => {
            Err(format!("Value must be at least {min}"))
        }
        Allowed::Between(_, max) if number > max => Err(format!("Value must be no more than {max}")),
        Allowed::BetweenOr(min, max, also) if number != also && !(min..=max).contains(&number) => {
            Err(format!("Value must be between {min} and {max} or equal to {also}"))
        }
        _ => Ok(()),
    }
}

fn check_double(allowed: Allowed, number: f64) -> Result<(), String> {
    match allowed {
        Allowed::Ratio(min, _) if number < min || number.is_nan() => Err(format!("Value must be at least {min}")),
        Allowed::Ratio(_, max) if number > max => Err(format!("Value must be no more than {max}")),
        _ => Ok(()),
    }
}

fn check_string(allowed: Allowed, text: &str) -> Result<(), String> {
    match allowed {
        Allowed::OneOf(names) if !names.contains(&text) => Err(one_of(names)),
        Allowed::OneOfAnyCase(names) if !names.iter().any(|name| name.eq_ignore_ascii_case(text)) => Err(one_of(names)),
        Allowed::Identity if Identity::parse(text).is_none() => {
            Err("String must be key+value, key, value, or header:NAME with a name of 1 to 255 bytes".to_owned())
        }
        _ => Ok(()),
    }
}

/// Kafka drops repeated elements, and so do we.
fn check_list(name: &str, allowed: Allowed, text: &str) -> Result<String, InvalidValue> {
    let invalid = |value: String, why: String| InvalidValue { name: name.to_owned(), value, why };
    let mut kept: Vec<&str> = Vec::new();
    for element in list(text) {
        if element.is_empty() {
            return Err(invalid(text.to_owned(), format!("Configuration '{name}' values must not be empty.")));
        }
        if let Allowed::SomeOf(names) = allowed
            && !names.contains(&element)
        {
            return Err(invalid(element.to_owned(), one_of(names)));
        }
        if !kept.contains(&element) {
            kept.push(element);
        }
    }
    if allowed == Allowed::Replicas && !replicas(&kept) {
        return Err(invalid(
            format!("[{}]", kept.join(", ")),
            format!(
                "{name} must be the literal '*' or a list of replicas in the following format: \
                 [partitionId]:[brokerId],[partitionId]:[brokerId],..."
            ),
        ));
    }
    Ok(kept.join(","))
}

fn one_of(names: &[&str]) -> String {
    format!("String must be one of: {}", names.join(", "))
}

fn replicas(elements: &[&str]) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    elements == ["*"]
        || elements
            .iter()
            .all(|pair| pair.split_once(':').is_some_and(|(partition, broker)| number(partition) && number(broker)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(kind: ConfigType, allowed: Allowed, text: &str) -> String {
        check("x", kind, allowed, text).unwrap_err().to_string()
    }

    #[test]
    fn values_get_their_canonical_text() {
        let canonical = |kind, text| check("x", kind, Allowed::Any, text).unwrap();
        assert_eq!(canonical(ConfigType::Boolean, "TRUE "), "true");
        assert_eq!(canonical(ConfigType::Int, " 1048577 "), "1048577");
        assert_eq!(canonical(ConfigType::Long, "+5"), "5");
        assert_eq!(canonical(ConfigType::Double, "2"), "2.0");
        assert_eq!(canonical(ConfigType::Double, "1.7976931348623157E308"), "1.7976931348623157E308");
        assert_eq!(canonical(ConfigType::List, "compact, delete,compact"), "compact,delete");
        assert_eq!(canonical(ConfigType::List, " "), "");
    }

    #[test]
    fn refusals_are_worded_as_kafka_words_them() {
        use Allowed::*;
        let of = |text: &str| format!("Invalid value {text}");
        assert_eq!(why(ConfigType::Long, Any, "abc"), of("abc for configuration x: Not a number of type LONG"));
        assert_eq!(
            why(ConfigType::Int, Any, "99999999999"),
            of("99999999999 for configuration x: Not a number of type INT")
        );
        assert_eq!(why(ConfigType::Long, AtLeast(-1), "-2"), of("-2 for configuration x: Value must be at least -1"));
        assert_eq!(
            why(ConfigType::Int, Between(1, 17), "18"),
            of("18 for configuration x: Value must be no more than 17")
        );
        assert_eq!(
            why(ConfigType::Int, BetweenOr(1, 9, -1), "0"),
            of("0 for configuration x: Value must be between 1 and 9 or equal to -1")
        );
        assert_eq!(
            why(ConfigType::Double, Ratio(0.0, 1.0), "2"),
            of("2.0 for configuration x: Value must be no more than 1")
        );
        assert_eq!(
            why(ConfigType::Boolean, Any, "maybe"),
            of("maybe for configuration x: Expected value to be either true or false")
        );
        assert_eq!(
            why(ConfigType::List, SomeOf(&["compact", "delete"]), "delete,foo"),
            of("foo for configuration x: String must be one of: compact, delete")
        );
        assert!(why(ConfigType::List, Replicas, "zz").starts_with("Invalid value [zz] for configuration x: x must be"));
        assert!(check("x", ConfigType::List, Replicas, "0:1,2:1").is_ok());
        assert!(check("x", ConfigType::List, Replicas, "*").is_ok());
        assert!(check("x", ConfigType::List, Any, "a,,b").is_err());
    }
}
