//! The rows of automations.

/// The catalogue with these rows behind the others, before those of neighbours and workspaces.
macro_rules! with_automations {
    ($($before:tt)*) => {
        with_neighbours! {
            $($before)*

            /// Lists automations with what they did.
            "capability/automation.list" AutomationList(Empty) -> api::automation::AutomationsResult,
                Read, OwnerOrOperator, Read, Safe, [], "0.6";
            /// Shows an automation and the times that it fired, newest first.
            "capability/automation.get" AutomationGet(api::automation::AutomationParams) -> api::automation::AutomationView,
                Read, OwnerOrOperator, Read, Safe, [NotFound], "0.6";
            /// Has an automation fire, also one that is not enabled.
            "capability/automation.fire" AutomationFire(api::automation::FireAutomationParams) -> api::automation::FiringView,
                Write, OwnerOrOperator, Supervise, Again, [NotFound, InvalidParams, TooLarge, Backpressure, StorageFull], "0.6";
            /// Hands over what came to `/v1/hooks/NAME`; its signature says whether it counts, not who brings it.
            "capability/webhook.deliver" WebhookDeliver(api::automation::DeliverWebhookParams) -> api::automation::DeliverWebhookResult,
                Write, Anyone, Nothing, Same, [InvalidParams, TooLarge, Backpressure, IdempotencyMismatch, StorageFull], "0.6";

        }
    };
}
