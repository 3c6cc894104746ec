//! What a template must be before a library takes it in.

use super::{
    Condition, FeedbackSlots, LabelledPair, Library, PromptError, PromptFormat, Purpose, Role,
    Template,
    rendering::{LABELS, parts, render_error},
};

impl Library {
    /// Takes in a template, if no other has its name or its role.
    pub(super) fn add(&mut self, template: Template) -> Result<(), PromptError> {
        let malformed =
            |reason: String| PromptError::Malformed { file: template.file.clone(), reason };
        let name = &template.header.name;
        let role = template.header.role;
        let rival = self.templates.values().find(|other| {
            other.header.name == *name || (role != Role::Feedback && other.header.role == role)
        });
        if let Some(rival) = rival {
            return Err(malformed(format!("{} has its name or role already", rival.file)));
        }
        if role == Role::Feedback {
            let condition: Condition =
                name.parse().map_err(|error| malformed(format!("its name: {error}")))?;
            if condition.to_string() != *name {
                return Err(malformed(format!("its name is written `{condition}`")));
            }
        }
        for (part, text) in [("system", template.system.as_ref()), ("user", Some(&template.user))] {
            if let Some(text) = text {
                self.environment
                    .add_template_owned(format!("{name}/{part}"), text.clone())
                    .map_err(|source| render_error(&template, source))?;
            }
        }
        let used = self.used_variables(&template)?;
        let declared = &template.header.variables;
        if let Some(variable) = used.iter().find(|variable| !declared.contains(variable)) {
            return Err(malformed(format!("it uses `{variable}` without declaring it")));
        }
        if let Some(variable) = declared.iter().find(|variable| !used.contains(variable)) {
            return Err(malformed(format!("it declares `{variable}` and does not use it")));
        }
        let known = role.variables();
        if let Some(variable) = used.iter().find(|variable| !known.contains(&variable.as_str())) {
            return Err(malformed(format!(
                "no {role} template has a variable `{variable}`: there are {}",
                known.join(", ")
            )));
        }
        if let Some(variable) =
            role.required().iter().find(|variable| !used.iter().any(|used| used == *variable))
        {
            return Err(malformed(format!("a {role} template must use `{variable}`")));
        }
        self.templates.insert(name.clone(), template);
        Ok(())
    }

    /// The variables that a template uses, sorted.
    fn used_variables(&self, template: &Template) -> Result<Vec<String>, PromptError> {
        let mut used = Vec::new();
        for part in parts(template) {
            let part = self
                .environment
                .get_template(&part)
                .map_err(|source| render_error(template, source))?;
            used.extend(part.undeclared_variables(false));
        }
        used.retain(|name| name != LABELS);
        used.sort();
        used.dedup();
        Ok(used)
    }

    /// Renders a template in every way that it may be asked for.
    pub(super) fn probe(&self, template: &Template) -> Result<(), PromptError> {
        let pairs = [LabelledPair { label: "A".into(), generated: "Good.", gold: "Nice." }];
        match template.header.role {
            Role::Feedback => {
                let slots = FeedbackSlots {
                    context: "One. Two.",
                    paragraph: "Two.",
                    rubric: Some("Write."),
                };
                for condition in Condition::all() {
                    let serves = self.template(Purpose::Feedback(condition));
                    if serves.is_ok_and(|found| found == template) {
                        match self.feedback(condition, &slots, PromptFormat::Chat) {
                            // Few shots may never be asked for.
                            Err(PromptError::NoShots { .. }) | Ok(_) => (),
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
            Role::Cleaning => drop(self.cleaning("Good.")?),
            Role::Segmentation => drop(self.segmentation("Good.")?),
            Role::Similarity => drop(self.similarity(&pairs)?),
            Role::Rating => drop(self.rating("Good.", "Nice.")?),
        }
        Ok(())
    }
}
