//! Fields: an instruction that nobody sees, then its result.

/// As many fields in one another are told apart; deeper ones count as their outer field.
const MAX_FIELDS: usize = 64;

/// The fields that are open at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    phases: Vec<Phase>,
    /// How many more are open, too deep to be told apart.
    n_deeper: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Instruction,
    Result,
}

impl Fields {
    /// Takes in a character of a field, by its kind: `begin`, `separate` or `end`.
    pub(super) fn turn(&mut self, kind: &str) {
        match kind {
            "begin" if self.phases.len() == MAX_FIELDS => self.n_deeper += 1,
            "begin" => self.phases.push(Phase::Instruction),
            "separate" if self.n_deeper == 0 => {
                if let Some(phase) = self.phases.last_mut() {
                    *phase = Phase::Result;
                }
            }
            "end" if 0 < self.n_deeper => self.n_deeper -= 1,
            "end" => {
                self.phases.pop();
            }
            _ => (),
        }
    }

    /// Whether text at this place belongs to an instruction.
    pub(super) fn is_instruction(&self) -> bool {
        self.phases.contains(&Phase::Instruction)
    }

    /// Gives up fields whose result has not begun: they have none, or the document is broken.
    pub(super) fn end_instructions(&mut self) {
        self.phases.retain(|phase| *phase == Phase::Result);
        self.n_deeper = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_fields_end_where_they_began() {
        let mut fields = Fields::default();
        let depth = MAX_FIELDS + 10;
        for _ in 0..depth {
            fields.turn("begin");
            fields.turn("separate");
            assert!(!fields.is_instruction());
        }
        for _ in 1..depth {
            fields.turn("end");
        }
        assert_eq!(fields.phases, [Phase::Result]);
        fields.turn("begin");
        assert!(fields.is_instruction());
        fields.end_instructions();
        assert_eq!(fields.phases, [Phase::Result]);
    }
}
