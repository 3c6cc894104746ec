//! Templates, filled in.

use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, Value, context, syntax::SyntaxConfig, value::Serde,
};

use super::{
    Category, Condition, FeedbackSlots, LabelledPair, Labels, Library, Prompt, PromptError,
    PromptFormat, Purpose, Shots, Template, quoting,
};

impl Library {
    /// Renders a request for feedback.
    pub fn feedback(
        &self,
        condition: Condition,
        slots: &FeedbackSlots<'_>,
        format: PromptFormat,
    ) -> Result<Prompt, PromptError> {
        let template = self.template(Purpose::Feedback(condition))?;
        let rubric = match (condition.rubric, slots.rubric) {
            (false, _) => None,
            (true, Some(rubric)) => Some(rubric),
            (true, None) => return Err(PromptError::NoRubric { condition }),
        };
        let uses_shots = template.header.variables.iter().any(|name| name == "shots");
        let exemplars = match condition.shots {
            Shots::Zero => &[],
            Shots::Few if self.shots.is_empty() && uses_shots => {
                return Err(PromptError::NoShots { origin: self.origin().to_owned(), condition });
            }
            Shots::Few => self.shots.as_slice(),
        };
        let categories = if condition.guided { Category::ALL.as_slice() } else { &[] };
        let categories: Vec<_> = categories
            .iter()
            .map(|category| context! { name => category.name(), meaning => category.meaning() })
            .collect();
        let FeedbackSlots { context, paragraph, .. } = *slots;
        self.render(template, &context! { categories, shots => Value::from(Serde(exemplars)), rubric, context, paragraph },
            format,
        )
    }

    /// Renders a request to cut everything but feedback.
    pub fn cleaning(&self, feedback: &str) -> Result<Prompt, PromptError> {
        let template = self.template(Purpose::Cleaning)?;
        self.render(template, &context! { feedback }, PromptFormat::Chat)
    }

    /// Renders a request to cut feedback into units.
    pub fn segmentation(&self, feedback: &str) -> Result<Prompt, PromptError> {
        let template = self.template(Purpose::Segmentation)?;
        self.render(template, &context! { feedback }, PromptFormat::Chat)
    }

    /// Renders a request to rate some pairs.
    pub fn similarity(&self, pairs: &[LabelledPair<'_>]) -> Result<Prompt, PromptError> {
        let template = self.template(Purpose::Similarity)?;
        self.render(template, &context! { pairs => Value::from(Serde(pairs)) }, PromptFormat::Chat)
    }

    /// Renders a request to rate one pair.
    pub fn rating(&self, generated: &str, gold: &str) -> Result<Prompt, PromptError> {
        let template = self.template(Purpose::Rating)?;
        self.render(template, &context! { generated, gold }, PromptFormat::Chat)
    }

    fn render(
        &self,
        template: &Template,
        values: &Value,
        format: PromptFormat,
    ) -> Result<Prompt, PromptError> {
        let exact = template.header.exact;
        let part = |name: &str| {
            self.environment
                .get_template(&format!("{}/{name}", template.header.name))
                .and_then(|part| part.render(values))
                .map(|text| if exact { text } else { text.trim().to_owned() })
                .map_err(|source| render_error(template, source))
        };
        let user = part("user")?;
        let system = template.system.is_some().then(|| part("system")).transpose()?;
        Ok(match (format, system) {
            (PromptFormat::Raw, Some(system)) if !exact => {
                Prompt { system: None, user: format!("{system}\n\n{user}"), format }
            }
            (PromptFormat::Raw, _) => Prompt { system: None, user, format },
            (_, system) => Prompt { system, user, format },
        })
    }
}

/// The name under which templates find [`Labels`].
pub(super) const LABELS: &str = "labels";

/// An engine without templates. Block tags take their line with them, a last
/// line break stays, and what is not defined is an error.
pub(super) fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    let mut environment = Environment::new();
    environment.set_syntax(syntax.build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // Errors must not carry the values that were filled in: essays are among them.
    environment.set_debug(false);
    environment.add_filter("quoted", |text: &str| quoting::quoted(text));
    environment.add_filter("oneline", |text: &str| quoting::oneline(text));
    environment.add_global(LABELS, Value::from(Serde(Labels::IN_USE)));
    Ok(environment)
}

/// The names of a template's parts in the environment.
pub(super) fn parts(template: &Template) -> impl Iterator<Item = String> {
    let name = &template.header.name;
    let system = template.system.is_some().then(|| format!("{name}/system"));
    system.into_iter().chain(std::iter::once(format!("{name}/user")))
}

pub(super) fn render_error(template: &Template, source: minijinja::Error) -> PromptError {
    PromptError::Render { file: template.file.clone(), source }
}
