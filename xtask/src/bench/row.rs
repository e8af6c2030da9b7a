//! One row of the table: what we reach, beside a reference and peers measured in the same minute.

use serde::Serialize;

use super::{
    machine::Busy,
    sample::{Better, Samples, Summary, digits},
};

/// Something measured beside ours.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) summary: Summary,
}

/// A row.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) ours: Summary,
    #[serde(skip)]
    pub(crate) better: Better,
    /// What the machine does without any manager.
    pub(crate) reference: Option<Measured>,
    pub(crate) peers: Vec<Measured>,
    /// Ours through another's, and the other's name.
    pub(crate) ratio: Option<(String, f64)>,
    pub(crate) reach: String,
    /// Whether the reach is met; nothing where there is none.
    pub(crate) met: Option<bool>,
    /// The same reach as a multiple of what the ratio is of, as it was where the reach was set, and whether that is met.
    pub(crate) reach_in_ratio: Option<(String, bool)>,
    pub(crate) notes: Vec<String>,
    /// Share of all processors in use before and after the measurement.
    pub(crate) busy: Busy,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, unit: &'static str, better: Better, ours: &Samples) -> Self {
        Self {
            what: what.into(),
            unit,
            ours: ours.summary(better),
            better,
            reference: None,
            peers: Vec::new(),
            ratio: None,
            reach: String::new(),
            met: None,
            reach_in_ratio: None,
            notes: Vec::new(),
            busy: Busy::default(),
        }
    }

    /// A row of times.
    pub(crate) fn time(what: impl Into<String>, unit: &'static str, ours: &Samples) -> Self {
        Self::new(what, unit, Better::Less, ours)
    }

    /// A row of rates.
    pub(crate) fn rate(what: impl Into<String>, unit: &'static str, ours: &Samples) -> Self {
        Self::new(what, unit, Better::More, ours)
    }

    pub(crate) fn reference(mut self, name: &str, samples: &Samples) -> Self {
        self.reference = Some(self.beside(name, samples));
        self
    }

    pub(crate) fn peer(mut self, name: &str, samples: Option<&Samples>) -> Self {
        match samples {
            Some(samples) => self.peers.push(self.beside(name, samples)),
            None => self.notes.push(format!("{name} is not installed: `scripts/bench-setup.sh` does that")),
        }
        self
    }

    /// Ours as a multiple of another's.
    pub(crate) fn against(mut self, name: &str, other: f64) -> Self {
        self.ratio = Some((name.to_owned(), self.ours.p50 / other));
        self
    }

    pub(crate) fn reach(mut self, reach: impl Into<String>, met: bool) -> Self {
        self.reach = reach.into();
        self.met = Some(met);
        self
    }

    /// The reach on a machine of any speed: as a multiple of what the row is measured against.
    pub(crate) fn reach_in_ratio(mut self, limit: f64) -> Self {
        if let Some((of, value)) = &self.ratio {
            let (sign, met) = match self.better {
                Better::Less => ("≤", *value <= limit),
                Better::More => ("≥", *value >= limit),
            };
            self.reach_in_ratio = Some((format!("{sign} {limit} × {of}"), met));
        }
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn beside(&self, name: &str, samples: &Samples) -> Measured {
        Measured { name: name.to_owned(), summary: samples.summary(self.better) }
    }

    /// Cells in the order of [`super::report::HEADINGS`].
    pub(crate) fn cells(&self) -> Vec<String> {
        let pair = |measured: &Measured| {
            let Summary { p50, p99, .. } = measured.summary;
            format!("{} {} / {}", measured.name, digits(p50), digits(p99))
        };
        let peers: Vec<String> = self.peers.iter().map(pair).collect();
        vec![
            format!("{}, {}", self.what, self.unit),
            digits(self.ours.p50),
            digits(self.ours.p99),
            self.ours.n.to_string(),
            self.reference.as_ref().map_or_else(|| "–".to_owned(), pair),
            if peers.is_empty() { "–".to_owned() } else { peers.join("; ") },
            self.ratio
                .as_ref()
                .map_or_else(|| "–".to_owned(), |(of, value)| format!("{} × {of}", digits(*value))),
            if self.reach.is_empty() { "–".to_owned() } else { self.reach.clone() },
            match self.met {
                Some(true) => "yes".to_owned(),
                Some(false) => "**no**".to_owned(),
                None => "–".to_owned(),
            },
            match &self.reach_in_ratio {
                Some((reach, true)) => format!("{reach}: yes"),
                Some((reach, false)) => format!("{reach}: **no**"),
                None => "–".to_owned(),
            },
            self.busy.to_string(),
        ]
    }
}
