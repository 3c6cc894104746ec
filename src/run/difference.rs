//! In what two specifications differ.

use std::fmt;

use serde_json::Value;

/// One setting that differs between two specifications.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The path to the setting, as `sampling.seed`.
    pub path: String,
    /// Its value in the first, where it has one.
    pub left: Option<Value>,
    /// Its value in the second, where it has one.
    pub right: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "(not set)".to_owned(),
        };
        write!(f, "{}: {} in the run, {} now", self.path, show(&self.left), show(&self.right))
    }
}

/// Every leaf in which the two differ, in the order of the first, then what
/// only the second has.
pub fn differences(left: &Value, right: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk("", Some(left), Some(right), &mut found);
    found
}

fn walk(path: &str, left: Option<&Value>, right: Option<&Value>, found: &mut Vec<Difference>) {
    if left == right {
        return;
    }
    let (Some(Value::Object(a)), Some(Value::Object(b))) = (left, right) else {
        found.push(Difference {
            path: path.to_owned(),
            left: left.cloned(),
            right: right.cloned(),
        });
        return;
    };
    let only_right = b.keys().filter(|key| !a.contains_key(*key));
    for key in a.keys().chain(only_right) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        walk(&path, a.get(key), b.get(key), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_each_leaf_that_differs() {
        let left = json!({"seed": 1, "sampling": {"top_p": 1.0}, "gone": true, "same": [1]});
        let right = json!({"seed": 2, "sampling": {"top_p": 0.9}, "same": [1], "new": "x"});
        let lines: Vec<String> =
            differences(&left, &right).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "seed: 1 in the run, 2 now",
                "sampling.top_p: 1.0 in the run, 0.9 now",
                "gone: true in the run, (not set) now",
                "new: (not set) in the run, \"x\" now",
            ]
        );
    }
}
