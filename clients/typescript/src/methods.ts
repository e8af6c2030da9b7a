// Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.

import { Group, type Caller, type Options } from "./caller.js";
import type * as t from "./types.js";

/** `core/*` */
export class Core extends Group {

  constructor(caller: Caller) {
    super(caller);
  }

  /**
   * Greets the node: versions, and as whom it knows the caller.
   *
   * `core/initialize`: reads; a token needs: nothing;
   * a repetition without a key changes nothing. Errors of its own:
   * unsupported.
   */
  initialize(params: t.InitializeParams = {}, options?: Options): Promise<t.InitializeResult> {
    return this.call("core/initialize", params, "safe", options);
  }

  /**
   * Lists the methods with their schemas.
   *
   * `core/describe`: reads; a token needs: nothing;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  describe(params: t.DescribeParams = {}, options?: Options): Promise<t.DescribeResult> {
    return this.call("core/describe", params, "safe", options);
  }

  /**
   * Tells whether the node serves.
   *
   * `core/health`: reads; a token needs: nothing;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  health(params: t.Empty = {}, options?: Options): Promise<t.HealthResult> {
    return this.call("core/health", params, "safe", options);
  }

  /**
   * Takes back a request of the caller that is still being worked on; it answers `cancelled`.
   *
   * `core/cancel`: writes; a token needs: nothing;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * none.
   */
  cancel(params: t.CancelParams, options?: Options): Promise<t.CancelResult> {
    return this.call("core/cancel", params, "same", options);
  }
}

/** `runtime/node.*` */
export class RuntimeNode extends Group {
  /**
   * Tells how the daemon is.
   *
   * `runtime/node.status`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  status(params: t.Empty = {}, options?: Options): Promise<t.NodeStatus> {
    return this.call("runtime/node.status", params, "safe", options);
  }

  /**
   * Ends the daemon in good order; agents run on.
   *
   * `runtime/node.stop`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * none.
   */
  stop(params: t.Empty = {}, options?: Options): Promise<t.Empty> {
    return this.call("runtime/node.stop", params, "same", options);
  }
}

/** `runtime/agent.*` */
export class RuntimeAgent extends Group {
  /**
   * Declares agents or changes what is declared, all or nothing.
   *
   * `runtime/agent.apply`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * invalid_manifest, quota_exhausted, storage_full.
   */
  apply(params: t.ApplyParams, options?: Options): Promise<t.ApplyResult> {
    return this.call("runtime/agent.apply", params, "same", options);
  }

  /**
   * Lists agents by name.
   *
   * `runtime/agent.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.AgentListParams = {}, options?: Options): Promise<t.AgentListResult> {
    return this.call("runtime/agent.list", params, "safe", options);
  }

  /**
   * Shows an agent.
   *
   * `runtime/agent.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.AgentParams, options?: Options): Promise<t.AgentView> {
    return this.call("runtime/agent.get", params, "safe", options);
  }

  /**
   * Runs an agent's preparation steps; progress comes as `core/progress` notifications.
   *
   * `runtime/agent.install`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_state.
   */
  install(params: t.AgentParams, options?: Options): Promise<t.InstallResult> {
    return this.call("runtime/agent.install", params, "again", options);
  }

  /**
   * Makes an agent run.
   *
   * `runtime/agent.start`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * policy_blocked, not_found, invalid_state, storage_full.
   */
  start(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.start", params, "same", options);
  }

  /**
   * Makes an agent end and stay ended.
   *
   * `runtime/agent.stop`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * policy_blocked, not_found, invalid_state.
   */
  stop(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.stop", params, "same", options);
  }

  /**
   * Makes an agent end and begin anew.
   *
   * `runtime/agent.restart`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_state, storage_full.
   */
  restart(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.restart", params, "again", options);
  }

  /**
   * Suspends every process of an agent.
   *
   * `runtime/agent.freeze`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * policy_blocked, not_found, invalid_state, unsupported.
   */
  freeze(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.freeze", params, "same", options);
  }

  /**
   * Lets a frozen agent go on.
   *
   * `runtime/agent.unfreeze`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * policy_blocked, not_found, invalid_state.
   */
  unfreeze(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.unfreeze", params, "same", options);
  }

  /**
   * Ends an idle agent until a message comes for it; its context is what its program can go on with.
   *
   * `runtime/agent.hibernate`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * policy_blocked, not_found, invalid_state.
   */
  hibernate(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.hibernate", params, "same", options);
  }

  /**
   * Ends an agent and frees its name; its history stays.
   *
   * `runtime/agent.retire`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  retire(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.retire", params, "same", options);
  }

  /**
   * Vouches that nothing is left of a quarantined agent.
   *
   * `runtime/agent.release`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state.
   */
  release(params: t.ChangeParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.release", params, "same", options);
  }

  /**
   * Waits until an agent is in one of some phases.
   *
   * `runtime/agent.wait`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, deadline_exceeded.
   */
  wait(params: t.WaitParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/agent.wait", params, "safe", options);
  }

  /**
   * Sends a message to an agent.
   *
   * `runtime/agent.signal`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, too_large, backpressure, rate_limited, idempotency_mismatch, policy_blocked, storage_full.
   */
  signal(params: t.SignalParams, options?: Options): Promise<t.SignalResult> {
    return this.call("runtime/agent.signal", params, "again", options);
  }

  /**
   * Sends a message to every agent whose labels are as asked for.
   *
   * `runtime/agent.broadcast`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * too_large.
   */
  broadcast(params: t.BroadcastParams, options?: Options): Promise<t.SpreadResult> {
    return this.call("runtime/agent.broadcast", params, "again", options);
  }

  /**
   * Asks an agent and waits for its answer; parts of it come as `ask/part` notifications.
   *
   * `runtime/agent.ask`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, too_large, backpressure, idempotency_mismatch, policy_blocked, unsupported, storage_full.
   */
  ask(params: t.AskParams, options?: Options): Promise<t.AskResult> {
    return this.call("runtime/agent.ask", params, "again", options);
  }

  /**
   * Watches or controls an agent's terminal; output comes as `attach/output` notifications.
   *
   * `runtime/agent.attach`: writes; a token needs: `attach`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_state, locked.
   */
  attach(params: t.AttachParams, options?: Options): Promise<t.AttachResult> {
    return this.call("runtime/agent.attach", params, "again", options);
  }

  /**
   * Ends an attachment; the agent does not notice.
   *
   * `runtime/agent.detach`: writes; a token needs: `attach`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found.
   */
  detach(params: t.DetachParams, options?: Options): Promise<t.Empty> {
    return this.call("runtime/agent.detach", params, "same", options);
  }

  /**
   * Types keys through a controlling attachment.
   *
   * `runtime/agent.write`: writes; a token needs: `control`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, permission_denied, backpressure.
   */
  write(params: t.WriteParams, options?: Options): Promise<t.Empty> {
    return this.call("runtime/agent.write", params, "again", options);
  }

  /**
   * Changes the terminal's size through a controlling attachment.
   *
   * `runtime/agent.resize`: writes; a token needs: `attach`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, permission_denied.
   */
  resize(params: t.ResizeParams, options?: Options): Promise<t.Empty> {
    return this.call("runtime/agent.resize", params, "same", options);
  }

  /**
   * Shows an agent's screen as text.
   *
   * `runtime/agent.snapshot`: reads; a token needs: `attach`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  snapshot(params: t.AgentParams, options?: Options): Promise<t.SnapshotResult> {
    return this.call("runtime/agent.snapshot", params, "safe", options);
  }
}

/** `runtime/retirement.*` */
export class RuntimeRetirement extends Group {
  /**
   * Says what an agent owns that is removed when it is retired, and what stays.
   *
   * `runtime/retirement.plan`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  plan(params: t.AgentParams, options?: Options): Promise<t.RetirementPlan> {
    return this.call("runtime/retirement.plan", params, "safe", options);
  }

  /**
   * Ends an agent, frees its name and removes what it owned, as its plan says; its history stays.
   *
   * `runtime/retirement.perform`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, conflict, storage_full.
   */
  perform(params: t.RetireParams, options?: Options): Promise<t.ChangeResult> {
    return this.call("runtime/retirement.perform", params, "same", options);
  }
}

/** `runtime/epoch.*` */
export class RuntimeEpoch extends Group {
  /**
   * Lists an agent's epochs.
   *
   * `runtime/epoch.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.AgentParams, options?: Options): Promise<t.EpochsResult> {
    return this.call("runtime/epoch.list", params, "safe", options);
  }
}

/** `runtime/override.*` */
export class RuntimeOverride extends Group {
  /**
   * Decides over agents, above everything that they are meant to do, until it is lifted: ends or suspends them.
   *
   * `runtime/override.apply`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * invalid_params, not_found, unsupported, quota_exhausted.
   */
  apply(params: t.ApplyOverrideParams, options?: Options): Promise<t.OverrideResult> {
    return this.call("runtime/override.apply", params, "again", options);
  }

  /**
   * Takes a decision over agents back; what it ended or suspended goes on if nothing else holds it.
   *
   * `runtime/override.lift`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * invalid_params, not_found.
   */
  lift(params: t.LiftOverrideParams, options?: Options): Promise<t.OverrideResult> {
    return this.call("runtime/override.lift", params, "same", options);
  }

  /**
   * Lists decisions over agents.
   *
   * `runtime/override.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.ListOverridesParams = {}, options?: Options): Promise<t.OverridesResult> {
    return this.call("runtime/override.list", params, "safe", options);
  }

  /**
   * Shows a decision over agents.
   *
   * `runtime/override.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.OverrideParams, options?: Options): Promise<t.OverrideView> {
    return this.call("runtime/override.get", params, "safe", options);
  }
}

/** `runtime/process.*` */
export class RuntimeProcess extends Group {
  /**
   * Lists the processes that an agent's program had the node run.
   *
   * `runtime/process.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * invalid_params, not_found.
   */
  list(params: t.ListProcessesParams, options?: Options): Promise<t.ProcessesResult> {
    return this.call("runtime/process.list", params, "safe", options);
  }

  /**
   * Shows a process, with the beginning and the end of its output.
   *
   * `runtime/process.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.ProcessParams, options?: Options): Promise<t.AgentProcess> {
    return this.call("runtime/process.get", params, "safe", options);
  }

  /**
   * Reads a part of what a process wrote, from any offset on: asked again and again, it follows one that runs.
   *
   * `runtime/process.read`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  read(params: t.ReadProcessParams, options?: Options): Promise<t.ProcessBytes> {
    return this.call("runtime/process.read", params, "safe", options);
  }

  /**
   * Writes to the standard input of a process that an agent's program had the node run, once per id.
   *
   * `runtime/process.write`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, unsupported, too_large, backpressure, idempotency_mismatch, unavailable, storage_full.
   */
  write(params: t.WriteProcessParams, options?: Options): Promise<t.WriteProcessResult> {
    return this.call("runtime/process.write", params, "again", options);
  }

  /**
   * Ends a process that an agent's program had the node run.
   *
   * `runtime/process.terminate`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, unavailable.
   */
  terminate(params: t.TerminateParams, options?: Options): Promise<t.AgentProcess> {
    return this.call("runtime/process.terminate", params, "same", options);
  }
}

/** `runtime/environment.*` */
export class RuntimeEnvironment extends Group {
  /**
   * Shows what surrounds an agent's program, as it is applied: folder, user, variables by name, limits, what is missing.
   *
   * `runtime/environment.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  get(params: t.AgentParams, options?: Options): Promise<t.EnvironmentView> {
    return this.call("runtime/environment.get", params, "safe", options);
  }
}

/** `runtime/host.*` */
export class RuntimeHost extends Group {
  /**
   * Lists the machines that this node knows: its own.
   *
   * `runtime/host.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.ListHostsParams = {}, options?: Options): Promise<t.HostsResult> {
    return this.call("runtime/host.list", params, "safe", options);
  }

  /**
   * Shows a machine: capacity, load, what it allows, agents by phase, what is left.
   *
   * `runtime/host.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.HostParams, options?: Options): Promise<t.HostView> {
    return this.call("runtime/host.get", params, "safe", options);
  }
}

/** `runtime/inbox.*` */
export class RuntimeInbox extends Group {
  /**
   * Lists an agent's messages.
   *
   * `runtime/inbox.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.InboxParams, options?: Options): Promise<t.InboxResult> {
    return this.call("runtime/inbox.list", params, "safe", options);
  }
}

/** `runtime/message.*` */
export class RuntimeMessage extends Group {
  /**
   * Shows a message and its receipts.
   *
   * `runtime/message.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.MessageParams, options?: Options): Promise<t.MessageView> {
    return this.call("runtime/message.get", params, "safe", options);
  }

  /**
   * Submits content as a tool's result, a document or a web page.
   *
   * `runtime/message.submit`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, too_large, backpressure, idempotency_mismatch, policy_blocked, storage_full.
   */
  submit(params: t.SubmitParams, options?: Options): Promise<t.SignalResult> {
    return this.call("runtime/message.submit", params, "again", options);
  }

  /**
   * Tells what the node vouches for of a message, signed.
   *
   * `runtime/message.verify`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  verify(params: t.MessageParams, options?: Options): Promise<t.MessageVerifyResult> {
    return this.call("runtime/message.verify", params, "safe", options);
  }

  /**
   * Signs messages that leave the node, with one signature for all.
   *
   * `runtime/message.sign`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, too_large.
   */
  sign(params: t.SignParams, options?: Options): Promise<t.SignResult> {
    return this.call("runtime/message.sign", params, "safe", options);
  }
}

/** `runtime/topic.*` */
export class RuntimeTopic extends Group {
  /**
   * Sends a message to every agent that subscribes to a topic.
   *
   * `runtime/topic.publish`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * too_large.
   */
  publish(params: t.PublishParams, options?: Options): Promise<t.SpreadResult> {
    return this.call("runtime/topic.publish", params, "again", options);
  }
}

/** `runtime/dead_letter.*` */
export class RuntimeDeadLetter extends Group {
  /**
   * Lists messages that did not reach their agent.
   *
   * `runtime/dead_letter.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.DeadLettersParams = {}, options?: Options): Promise<t.DeadLettersResult> {
    return this.call("runtime/dead_letter.list", params, "safe", options);
  }

  /**
   * Lets a message that did not reach its agent wait once more.
   *
   * `runtime/dead_letter.replay`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  replay(params: t.MessageParams, options?: Options): Promise<t.MessageView> {
    return this.call("runtime/dead_letter.replay", params, "same", options);
  }

  /**
   * Takes a message that did not reach its agent off the list.
   *
   * `runtime/dead_letter.drop`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  drop(params: t.DropParams, options?: Options): Promise<t.Empty> {
    return this.call("runtime/dead_letter.drop", params, "same", options);
  }
}

/** `runtime/item.*` */
export class RuntimeItem extends Group {
  /**
   * Reports a piece of work or a remark of the calling agent.
   *
   * `runtime/item.report`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * permission_denied, fenced, not_found, too_large, storage_full.
   */
  report(params: t.ItemParams, options?: Options): Promise<t.ReportResult> {
    return this.call("runtime/item.report", params, "again", options);
  }
}

/** `runtime/status.*` */
export class RuntimeStatus extends Group {
  /**
   * Reports what the calling agent is doing.
   *
   * `runtime/status.report`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * permission_denied, fenced, too_large, storage_full.
   */
  report(params: t.StatusParams, options?: Options): Promise<t.ReportResult> {
    return this.call("runtime/status.report", params, "same", options);
  }
}

/** `runtime/hook.*` */
export class RuntimeHook extends Group {
  /**
   * Reports what a hook of the calling agent's program said.
   *
   * `runtime/hook.report`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * permission_denied, fenced, invalid_params, unsupported, storage_full.
   */
  report(params: t.HookParams, options?: Options): Promise<t.HookResult> {
    return this.call("runtime/hook.report", params, "again", options);
  }
}

/** `runtime/transcript.*` */
export class RuntimeTranscript extends Group {
  /**
   * Reads what was said to an agent and by it, and what it did.
   *
   * `runtime/transcript.read`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  read(params: t.TranscriptParams = {}, options?: Options): Promise<t.TranscriptResult> {
    return this.call("runtime/transcript.read", params, "safe", options);
  }
}

/** `runtime/task.*` */
export class RuntimeTask extends Group {
  /**
   * Writes a task down, and begins it as soon as it can be begun.
   *
   * `runtime/task.create`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_params, invalid_state, conflict, quota_exhausted, storage_full.
   */
  create(params: t.TaskCreateParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.create", params, "again", options);
  }

  /**
   * Changes what is to be done in a task that is not over.
   *
   * `runtime/task.update`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * policy_blocked, not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  update(params: t.TaskUpdateParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.update", params, "same", options);
  }

  /**
   * Has a task begun that is a draft, or accepted.
   *
   * `runtime/task.start`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  start(params: t.TaskChangeParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.start", params, "again", options);
  }

  /**
   * Says how far a task is.
   *
   * `runtime/task.progress`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, fenced, storage_full.
   */
  progress(params: t.TaskProgressParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.progress", params, "again", options);
  }

  /**
   * Lets a task rest; the run that works on it is asked to end.
   *
   * `runtime/task.pause`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  pause(params: t.TaskChangeParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.pause", params, "again", options);
  }

  /**
   * Lets a task go on that rests, by a further run if one is needed.
   *
   * `runtime/task.resume`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  resume(params: t.TaskChangeParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.resume", params, "again", options);
  }

  /**
   * Has a task and its parts ended: first the intent, then whatever works on them.
   *
   * `runtime/task.cancel`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  cancel(params: t.TaskChangeParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.cancel", params, "same", options);
  }

  /**
   * Begins a further run of a task that failed, was too slow, or is lost.
   *
   * `runtime/task.retry`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  retry(params: t.TaskChangeParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.retry", params, "again", options);
  }

  /**
   * Says that a task is done, and what of what must be true is.
   *
   * `runtime/task.complete`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, fenced, storage_full.
   */
  complete(params: t.TaskCompleteParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.complete", params, "again", options);
  }

  /**
   * Says that a task failed.
   *
   * `runtime/task.fail`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, fenced, storage_full.
   */
  fail(params: t.TaskFailParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.fail", params, "again", options);
  }

  /**
   * Puts a task away that is over.
   *
   * `runtime/task.archive`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, storage_full.
   */
  archive(params: t.TaskChangeParams, options?: Options): Promise<t.TaskView> {
    return this.call("runtime/task.archive", params, "again", options);
  }

  /**
   * Shows a task with its edges and runs.
   *
   * `runtime/task.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.TaskParams, options?: Options): Promise<t.TaskDetail> {
    return this.call("runtime/task.get", params, "safe", options);
  }

  /**
   * Lists tasks.
   *
   * `runtime/task.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.TaskListParams = {}, options?: Options): Promise<t.TaskListResult> {
    return this.call("runtime/task.list", params, "safe", options);
  }

  /**
   * Shows how the tasks of a graph are joined.
   *
   * `runtime/task.graph`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, too_large.
   */
  graph(params: t.TaskGraphParams, options?: Options): Promise<t.TaskGraphResult> {
    return this.call("runtime/task.graph", params, "safe", options);
  }

  /**
   * Joins a task to another one, or to what an address names.
   *
   * `runtime/task.link`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, conflict, storage_full.
   */
  link(params: t.TaskEdgeParams, options?: Options): Promise<t.EdgeView> {
    return this.call("runtime/task.link", params, "same", options);
  }

  /**
   * Parts a task from another one, or from what an address names.
   *
   * `runtime/task.unlink`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, storage_full.
   */
  unlink(params: t.TaskEdgeParams, options?: Options): Promise<t.EdgeView> {
    return this.call("runtime/task.unlink", params, "again", options);
  }
}

/** `runtime/run.*` */
export class RuntimeRun extends Group {
  /**
   * Has a task worked on: by a first run, or by a further one.
   *
   * `runtime/run.start`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_params, invalid_state, unsupported, conflict, version_conflict, fenced, locked, quota_exhausted, storage_full.
   */
  start(params: t.RunStartParams, options?: Options): Promise<t.RunStartResult> {
    return this.call("runtime/run.start", params, "again", options);
  }

  /**
   * Lets a run rest: it is asked to end, and its task rests until it goes on.
   *
   * `runtime/run.pause`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, fenced, storage_full.
   */
  pause(params: t.RunChangeParams, options?: Options): Promise<t.RunView> {
    return this.call("runtime/run.pause", params, "again", options);
  }

  /**
   * Lets the task of a run that rested go on, by a further run.
   *
   * `runtime/run.resume`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, fenced, storage_full.
   */
  resume(params: t.RunChangeParams, options?: Options): Promise<t.RunStartResult> {
    return this.call("runtime/run.resume", params, "again", options);
  }

  /**
   * Shows a run.
   *
   * `runtime/run.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.RunParams, options?: Options): Promise<t.RunView> {
    return this.call("runtime/run.get", params, "safe", options);
  }

  /**
   * Lists runs.
   *
   * `runtime/run.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.RunListParams = {}, options?: Options): Promise<t.RunListResult> {
    return this.call("runtime/run.list", params, "safe", options);
  }

  /**
   * Has a run ended; its task has failed then, and may be tried again.
   *
   * `runtime/run.cancel`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, storage_full.
   */
  cancel(params: t.RunCancelParams, options?: Options): Promise<t.RunView> {
    return this.call("runtime/run.cancel", params, "same", options);
  }
}

/** `runtime/job.*` */
export class RuntimeJob extends Group {
  /**
   * Makes a job: items that are dealt out to agents, each to one that is idle.
   *
   * `runtime/job.create`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_params, conflict, storage_full.
   */
  create(params: t.JobCreateParams, options?: Options): Promise<t.JobView> {
    return this.call("runtime/job.create", params, "again", options);
  }

  /**
   * Shows a job with a page of its items.
   *
   * `runtime/job.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.JobGetParams, options?: Options): Promise<t.JobDetail> {
    return this.call("runtime/job.get", params, "safe", options);
  }

  /**
   * Lists jobs.
   *
   * `runtime/job.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.JobListParams = {}, options?: Options): Promise<t.JobListResult> {
    return this.call("runtime/job.list", params, "safe", options);
  }

  /**
   * Has a job ended: what is done stays done, what is worked on is told, what waits is never begun.
   *
   * `runtime/job.cancel`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, storage_full.
   */
  cancel(params: t.JobCancelParams, options?: Options): Promise<t.JobView> {
    return this.call("runtime/job.cancel", params, "same", options);
  }
}

/** `runtime/job_item.*` */
export class RuntimeJobItem extends Group {
  /**
   * Gives an item that waits to an agent.
   *
   * `runtime/job_item.assign`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_state, storage_full.
   */
  assign(params: t.JobItemAssignParams, options?: Options): Promise<t.JobItemView> {
    return this.call("runtime/job_item.assign", params, "again", options);
  }

  /**
   * Has an item tried again that failed.
   *
   * `runtime/job_item.retry`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, storage_full.
   */
  retry(params: t.JobItemRetryParams, options?: Options): Promise<t.JobItemView> {
    return this.call("runtime/job_item.retry", params, "again", options);
  }

  /**
   * Says what came of an item, once.
   *
   * `runtime/job_item.report`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, fenced, storage_full.
   */
  report(params: t.JobItemReportParams, options?: Options): Promise<t.JobItemView> {
    return this.call("runtime/job_item.report", params, "same", options);
  }
}

/** `runtime/subagent.*` */
export class RuntimeSubagent extends Group {
  /**
   * Starts an agent under another one, for good or for one task.
   *
   * `runtime/subagent.spawn`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, invalid_manifest, not_found, invalid_params, invalid_state, conflict, locked, quota_exhausted, unsupported, storage_full.
   */
  spawn(params: t.SubagentSpawnParams = {}, options?: Options): Promise<t.SubagentView> {
    return this.call("runtime/subagent.spawn", params, "again", options);
  }

  /**
   * Sends a subagent a message.
   *
   * `runtime/subagent.send`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  send(params: t.SubagentSendParams, options?: Options): Promise<t.SignalResult> {
    return this.call("runtime/subagent.send", params, "again", options);
  }

  /**
   * Waits until subagents have come to an end, or have nothing to do.
   *
   * `runtime/subagent.wait`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, deadline_exceeded.
   */
  wait(params: t.SubagentWaitParams, options?: Options): Promise<t.SubagentWaitResult> {
    return this.call("runtime/subagent.wait", params, "safe", options);
  }

  /**
   * Lets a subagent go on that is stopped or suspended.
   *
   * `runtime/subagent.resume`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, storage_full.
   */
  resume(params: t.SubagentChangeParams, options?: Options): Promise<t.SubagentView> {
    return this.call("runtime/subagent.resume", params, "same", options);
  }

  /**
   * Ends and retires a subagent and all agents under it, the youngest generation first.
   *
   * `runtime/subagent.close`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params.
   */
  close(params: t.SubagentChangeParams, options?: Options): Promise<t.SubagentView> {
    return this.call("runtime/subagent.close", params, "same", options);
  }

  /**
   * Lists the agents under one.
   *
   * `runtime/subagent.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.SubagentListParams = {}, options?: Options): Promise<t.SubagentListResult> {
    return this.call("runtime/subagent.list", params, "safe", options);
  }
}

/** `runtime/schedule.*` */
export class RuntimeSchedule extends Group {
  /**
   * Lists schedules.
   *
   * `runtime/schedule.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.ScheduleListParams = {}, options?: Options): Promise<t.ScheduleListResult> {
    return this.call("runtime/schedule.list", params, "safe", options);
  }

  /**
   * Tells what became of a schedule's occurrences.
   *
   * `runtime/schedule.history`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  history(params: t.HistoryParams, options?: Options): Promise<t.HistoryResult> {
    return this.call("runtime/schedule.history", params, "safe", options);
  }

  /**
   * Runs a schedule now; its plan is not touched.
   *
   * `runtime/schedule.run`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, backpressure, policy_blocked, storage_full.
   */
  run(params: t.ScheduleParams, options?: Options): Promise<t.RunResult> {
    return this.call("runtime/schedule.run", params, "again", options);
  }

  /**
   * Lets a schedule rest; what comes due meanwhile is skipped.
   *
   * `runtime/schedule.pause`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, storage_full.
   */
  pause(params: t.ScheduleParams, options?: Options): Promise<t.ScheduleView> {
    return this.call("runtime/schedule.pause", params, "same", options);
  }

  /**
   * Lets a paused schedule run again.
   *
   * `runtime/schedule.resume`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, storage_full.
   */
  resume(params: t.ScheduleParams, options?: Options): Promise<t.ScheduleView> {
    return this.call("runtime/schedule.resume", params, "same", options);
  }

  /**
   * Ends a schedule that is not part of a manifest; its history stays.
   *
   * `runtime/schedule.remove`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  remove(params: t.ScheduleParams, options?: Options): Promise<t.Empty> {
    return this.call("runtime/schedule.remove", params, "same", options);
  }
}

/** `runtime/adapter.*` */
export class RuntimeAdapter extends Group {
  /**
   * Lists the terminal adapters that are in force.
   *
   * `runtime/adapter.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.Empty = {}, options?: Options): Promise<t.AdaptersResult> {
    return this.call("runtime/adapter.list", params, "safe", options);
  }

  /**
   * Reads an adapter's text, and tells what it says of a screen.
   *
   * `runtime/adapter.check`: reads; a token needs: `attach`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, invalid_state.
   */
  check(params: t.AdapterCheckParams, options?: Options): Promise<t.AdapterCheckResult> {
    return this.call("runtime/adapter.check", params, "safe", options);
  }
}

/** `runtime/recording.*` */
export class RuntimeRecording extends Group {
  /**
   * Reads a recording, also of an epoch or agent that is gone.
   *
   * `runtime/recording.read`: reads; a token needs: `attach`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  read(params: t.RecordingParams, options?: Options): Promise<t.RecordingResult> {
    return this.call("runtime/recording.read", params, "safe", options);
  }
}

/** `runtime/*` */
export class Runtime extends Group {
  readonly node: RuntimeNode;
  readonly agent: RuntimeAgent;
  readonly retirement: RuntimeRetirement;
  readonly epoch: RuntimeEpoch;
  readonly override: RuntimeOverride;
  readonly process: RuntimeProcess;
  readonly environment: RuntimeEnvironment;
  readonly host: RuntimeHost;
  readonly inbox: RuntimeInbox;
  readonly message: RuntimeMessage;
  readonly topic: RuntimeTopic;
  readonly dead_letter: RuntimeDeadLetter;
  readonly item: RuntimeItem;
  readonly status: RuntimeStatus;
  readonly hook: RuntimeHook;
  readonly transcript: RuntimeTranscript;
  readonly task: RuntimeTask;
  readonly run: RuntimeRun;
  readonly job: RuntimeJob;
  readonly job_item: RuntimeJobItem;
  readonly subagent: RuntimeSubagent;
  readonly schedule: RuntimeSchedule;
  readonly adapter: RuntimeAdapter;
  readonly recording: RuntimeRecording;

  constructor(caller: Caller) {
    super(caller);
    this.node = new RuntimeNode(caller);
    this.agent = new RuntimeAgent(caller);
    this.retirement = new RuntimeRetirement(caller);
    this.epoch = new RuntimeEpoch(caller);
    this.override = new RuntimeOverride(caller);
    this.process = new RuntimeProcess(caller);
    this.environment = new RuntimeEnvironment(caller);
    this.host = new RuntimeHost(caller);
    this.inbox = new RuntimeInbox(caller);
    this.message = new RuntimeMessage(caller);
    this.topic = new RuntimeTopic(caller);
    this.dead_letter = new RuntimeDeadLetter(caller);
    this.item = new RuntimeItem(caller);
    this.status = new RuntimeStatus(caller);
    this.hook = new RuntimeHook(caller);
    this.transcript = new RuntimeTranscript(caller);
    this.task = new RuntimeTask(caller);
    this.run = new RuntimeRun(caller);
    this.job = new RuntimeJob(caller);
    this.job_item = new RuntimeJobItem(caller);
    this.subagent = new RuntimeSubagent(caller);
    this.schedule = new RuntimeSchedule(caller);
    this.adapter = new RuntimeAdapter(caller);
    this.recording = new RuntimeRecording(caller);
  }
}

/** `conversation/action.*` */
export class ConversationAction extends Group {
  /**
   * Asks a person: a question, or leave to do something.
   *
   * `conversation/action.open`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, too_large, backpressure, idempotency_mismatch, storage_full.
   */
  open(params: t.OpenParams, options?: Options): Promise<t.ActionView> {
    return this.call("conversation/action.open", params, "again", options);
  }

  /**
   * Lists what waits for a person.
   *
   * `conversation/action.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.ActionListParams = {}, options?: Options): Promise<t.ActionListResult> {
    return this.call("conversation/action.list", params, "safe", options);
  }

  /**
   * Shows an action.
   *
   * `conversation/action.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.ActionParams, options?: Options): Promise<t.ActionView> {
    return this.call("conversation/action.get", params, "safe", options);
  }

  /**
   * Approves, denies or answers an action.
   *
   * `conversation/action.respond`: writes; a token needs: `approve`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, conflict, permission_denied, policy_blocked, storage_full.
   */
  respond(params: t.DecideParams, options?: Options): Promise<t.ActionView> {
    return this.call("conversation/action.respond", params, "same", options);
  }

  /**
   * Takes an action back.
   *
   * `conversation/action.cancel`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  cancel(params: t.ActionParams, options?: Options): Promise<t.ActionView> {
    return this.call("conversation/action.cancel", params, "same", options);
  }
}

/** `conversation/session.*` */
export class ConversationSession extends Group {
  /**
   * Makes a further session of an agent, with its first thread.
   *
   * `conversation/session.create`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, unsupported, conflict, quota_exhausted, storage_full.
   */
  create(params: t.SessionCreateParams = {}, options?: Options): Promise<t.SessionEntry> {
    return this.call("conversation/session.create", params, "again", options);
  }

  /**
   * Shows a session.
   *
   * `conversation/session.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.SessionParams, options?: Options): Promise<t.SessionEntry> {
    return this.call("conversation/session.get", params, "safe", options);
  }

  /**
   * Lists sessions.
   *
   * `conversation/session.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.SessionListParams = {}, options?: Options): Promise<t.SessionListResult> {
    return this.call("conversation/session.list", params, "safe", options);
  }

  /**
   * Lets a session and its threads take no turns any more; their history stays.
   *
   * `conversation/session.archive`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, version_conflict, storage_full.
   */
  archive(params: t.SessionArchiveParams, options?: Options): Promise<t.SessionEntry> {
    return this.call("conversation/session.archive", params, "same", options);
  }
}

/** `conversation/thread.*` */
export class ConversationThread extends Group {
  /**
   * Makes a thread.
   *
   * `conversation/thread.create`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, unsupported, conflict, quota_exhausted, storage_full.
   */
  create(params: t.ThreadCreateParams = {}, options?: Options): Promise<t.ThreadView> {
    return this.call("conversation/thread.create", params, "again", options);
  }

  /**
   * Shows a thread.
   *
   * `conversation/thread.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.ThreadParams = {}, options?: Options): Promise<t.ThreadView> {
    return this.call("conversation/thread.get", params, "safe", options);
  }

  /**
   * Lists threads.
   *
   * `conversation/thread.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.ThreadListParams = {}, options?: Options): Promise<t.ThreadListResult> {
    return this.call("conversation/thread.list", params, "safe", options);
  }

  /**
   * Calls a thread something else.
   *
   * `conversation/thread.update`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, version_conflict, storage_full.
   */
  update(params: t.ThreadUpdateParams, options?: Options): Promise<t.ThreadView> {
    return this.call("conversation/thread.update", params, "same", options);
  }

  /**
   * Lets a thread take no turns any more; its history stays.
   *
   * `conversation/thread.archive`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, version_conflict, storage_full.
   */
  archive(params: t.ThreadArchiveParams, options?: Options): Promise<t.ThreadView> {
    return this.call("conversation/thread.archive", params, "same", options);
  }

  /**
   * Tells what happens in a thread now.
   *
   * `conversation/thread.read`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  read(params: t.ThreadParams = {}, options?: Options): Promise<t.ThreadReadResult> {
    return this.call("conversation/thread.read", params, "safe", options);
  }

  /**
   * Tells what a crash or a stop left uncertain in a thread, and what can be done.
   *
   * `conversation/thread.resume`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  resume(params: t.ThreadParams = {}, options?: Options): Promise<t.ThreadResumeResult> {
    return this.call("conversation/thread.resume", params, "safe", options);
  }

  /**
   * Makes a thread that goes on from a turn of another one.
   *
   * `conversation/thread.fork`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, unsupported, conflict, quota_exhausted, storage_full.
   */
  fork(params: t.ThreadForkParams, options?: Options): Promise<t.ThreadView> {
    return this.call("conversation/thread.fork", params, "again", options);
  }

  /**
   * Takes the last turns of a thread out of its history, and lets its program begin anew without them.
   *
   * `conversation/thread.rollback`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, version_conflict, too_large, unsupported, storage_full.
   */
  rollback(params: t.ThreadRollbackParams, options?: Options): Promise<t.ThreadRollbackResult> {
    return this.call("conversation/thread.rollback", params, "same", options);
  }

  /**
   * Draws a boundary in a thread: its program begins anew and is told a summary of what is up to it.
   *
   * `conversation/thread.compact`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, unsupported, storage_full.
   */
  compact(params: t.ThreadCompactParams, options?: Options): Promise<t.ThreadCompactResult> {
    return this.call("conversation/thread.compact", params, "same", options);
  }
}

/** `conversation/turn.*` */
export class ConversationTurn extends Group {
  /**
   * Begins a turn: says something to an agent in a thread.
   *
   * `conversation/turn.start`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, unsupported, too_large, backpressure, rate_limited, conflict, idempotency_mismatch, policy_blocked, locked, quota_exhausted, storage_full.
   */
  start(params: t.TurnStartParams, options?: Options): Promise<t.TurnStartResult> {
    return this.call("conversation/turn.start", params, "again", options);
  }

  /**
   * Says something into a turn that runs.
   *
   * `conversation/turn.steer`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_state, unsupported, too_large, backpressure, idempotency_mismatch, policy_blocked, storage_full.
   */
  steer(params: t.TurnSteerParams, options?: Options): Promise<t.TurnStartResult> {
    return this.call("conversation/turn.steer", params, "again", options);
  }

  /**
   * Asks for the end of a turn.
   *
   * `conversation/turn.interrupt`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, unsupported, permission_denied, storage_full.
   */
  interrupt(params: t.TurnInterruptParams, options?: Options): Promise<t.TurnInterruptResult> {
    return this.call("conversation/turn.interrupt", params, "same", options);
  }

  /**
   * Shows a turn.
   *
   * `conversation/turn.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.TurnParams, options?: Options): Promise<t.TurnView> {
    return this.call("conversation/turn.get", params, "safe", options);
  }

  /**
   * Lists turns.
   *
   * `conversation/turn.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.TurnListParams = {}, options?: Options): Promise<t.TurnListResult> {
    return this.call("conversation/turn.list", params, "safe", options);
  }
}

/** `conversation/item.*` */
export class ConversationItem extends Group {
  /**
   * Lists the items of a turn or a thread.
   *
   * `conversation/item.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.ItemListParams = {}, options?: Options): Promise<t.ItemListResult> {
    return this.call("conversation/item.list", params, "safe", options);
  }
}

/** `conversation/queue.*` */
export class ConversationQueue extends Group {
  /**
   * Lists the turns that wait, in the order of delivery.
   *
   * `conversation/queue.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.QueueListParams = {}, options?: Options): Promise<t.QueueResult> {
    return this.call("conversation/queue.list", params, "safe", options);
  }

  /**
   * Takes a waiting turn out of the queue.
   *
   * `conversation/queue.remove`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  remove(params: t.QueueRemoveParams, options?: Options): Promise<t.TurnView> {
    return this.call("conversation/queue.remove", params, "same", options);
  }

  /**
   * Puts a waiting turn before all others that wait.
   *
   * `conversation/queue.promote`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  promote(params: t.TurnParams, options?: Options): Promise<t.QueueResult> {
    return this.call("conversation/queue.promote", params, "same", options);
  }
}

/** `conversation/output.*` */
export class ConversationOutput extends Group {
  /**
   * Reads what a turn came to.
   *
   * `conversation/output.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.OutputParams, options?: Options): Promise<t.OutputView> {
    return this.call("conversation/output.get", params, "safe", options);
  }

  /**
   * Lists what turns came to.
   *
   * `conversation/output.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.OutputListParams = {}, options?: Options): Promise<t.OutputListResult> {
    return this.call("conversation/output.list", params, "safe", options);
  }
}

/** `conversation/delivery.*` */
export class ConversationDelivery extends Group {
  /**
   * Hands an output over.
   *
   * `conversation/delivery.create`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, conflict, storage_full.
   */
  create(params: t.DeliveryCreateParams, options?: Options): Promise<t.DeliveryView> {
    return this.call("conversation/delivery.create", params, "again", options);
  }

  /**
   * Says that an output that was handed over is there.
   *
   * `conversation/delivery.ack`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, storage_full.
   */
  ack(params: t.DeliveryParams, options?: Options): Promise<t.DeliveryView> {
    return this.call("conversation/delivery.ack", params, "same", options);
  }

  /**
   * Lists deliveries.
   *
   * `conversation/delivery.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.DeliveryListParams = {}, options?: Options): Promise<t.DeliveryListResult> {
    return this.call("conversation/delivery.list", params, "safe", options);
  }
}

/** `conversation/context.*` */
export class ConversationContext extends Group {
  /**
   * Finds texts in the store of contexts, best first.
   *
   * `conversation/context.search`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * invalid_params, upstream_failed.
   */
  search(params: t.ContextSearchParams, options?: Options): Promise<t.ContextSearchResult> {
    return this.call("conversation/context.search", params, "safe", options);
  }

  /**
   * Reads a text of the store of contexts, or a part of it.
   *
   * `conversation/context.read`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, upstream_failed.
   */
  read(params: t.ContextReadParams, options?: Options): Promise<t.ContextReadResult> {
    return this.call("conversation/context.read", params, "safe", options);
  }

  /**
   * Chooses texts for a budget, and records what was chosen and what was left out.
   *
   * `conversation/context.resolve`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, upstream_failed, storage_full.
   */
  resolve(params: t.ContextResolveParams = {}, options?: Options): Promise<t.ContextResolveResult> {
    return this.call("conversation/context.resolve", params, "again", options);
  }
}

/** `conversation/*` */
export class Conversation extends Group {
  readonly action: ConversationAction;
  readonly session: ConversationSession;
  readonly thread: ConversationThread;
  readonly turn: ConversationTurn;
  readonly item: ConversationItem;
  readonly queue: ConversationQueue;
  readonly output: ConversationOutput;
  readonly delivery: ConversationDelivery;
  readonly context: ConversationContext;

  constructor(caller: Caller) {
    super(caller);
    this.action = new ConversationAction(caller);
    this.session = new ConversationSession(caller);
    this.thread = new ConversationThread(caller);
    this.turn = new ConversationTurn(caller);
    this.item = new ConversationItem(caller);
    this.queue = new ConversationQueue(caller);
    this.output = new ConversationOutput(caller);
    this.delivery = new ConversationDelivery(caller);
    this.context = new ConversationContext(caller);
  }
}

/** `policy/rule.*` */
export class PolicyRule extends Group {
  /**
   * Lists the rules that are in force.
   *
   * `policy/rule.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.Empty = {}, options?: Options): Promise<t.RulesResult> {
    return this.call("policy/rule.list", params, "safe", options);
  }

  /**
   * Looks whether rules could be put in force, and what they would say.
   *
   * `policy/rule.check`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, too_large.
   */
  check(params: t.CheckParams, options?: Options): Promise<t.CheckResult> {
    return this.call("policy/rule.check", params, "safe", options);
  }

  /**
   * Reads the files of rules now instead of within a second.
   *
   * `policy/rule.reload`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * storage_full.
   */
  reload(params: t.Empty = {}, options?: Options): Promise<t.RulesResult> {
    return this.call("policy/rule.reload", params, "same", options);
  }
}

/** `policy/decision.*` */
export class PolicyDecision extends Group {
  /**
   * Tells what the rules say of a request, and which of them decides.
   *
   * `policy/decision.explain`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  explain(params: t.ExplainParams, options?: Options): Promise<t.ExplainResult> {
    return this.call("policy/decision.explain", params, "safe", options);
  }
}

/** `policy/*` */
export class Policy extends Group {
  readonly rule: PolicyRule;
  readonly decision: PolicyDecision;

  constructor(caller: Caller) {
    super(caller);
    this.rule = new PolicyRule(caller);
    this.decision = new PolicyDecision(caller);
  }
}

/** `security/token.*` */
export class SecurityToken extends Group {
  /**
   * Makes a token for a person or a program.
   *
   * `security/token.create`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
   * a repetition without a key acts again. Errors of its own:
   * quota_exhausted, storage_full.
   */
  create(params: t.CreateParams, options?: Options): Promise<t.CreateResult> {
    return this.call("security/token.create", params, "again", options);
  }

  /**
   * Lists the tokens that were made.
   *
   * `security/token.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.Empty = {}, options?: Options): Promise<t.TokensResult> {
    return this.call("security/token.list", params, "safe", options);
  }

  /**
   * Makes a token worth nothing.
   *
   * `security/token.revoke`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, storage_full.
   */
  revoke(params: t.RevokeParams, options?: Options): Promise<t.Empty> {
    return this.call("security/token.revoke", params, "same", options);
  }

  /**
   * Gives the calling agent a short token of its epoch, for where its socket cannot be reached.
   *
   * `security/token.epoch`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * permission_denied.
   */
  epoch(params: t.Empty = {}, options?: Options): Promise<t.EpochTokenResult> {
    return this.call("security/token.epoch", params, "safe", options);
  }
}

/** `security/certificate.*` */
export class SecurityCertificate extends Group {
  /**
   * Makes a client certificate the credential of a person or a program.
   *
   * `security/certificate.add`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
   * a repetition without a key acts again. Errors of its own:
   * invalid_params, conflict, quota_exhausted, storage_full.
   */
  add(params: t.AddCertificateParams, options?: Options): Promise<t.AddCertificateResult> {
    return this.call("security/certificate.add", params, "again", options);
  }
}

/** `security/key.*` */
export class SecurityKey extends Group {
  /**
   * Lists the keys that the node signs or has signed with.
   *
   * `security/key.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.Empty = {}, options?: Options): Promise<t.KeysResult> {
    return this.call("security/key.list", params, "safe", options);
  }

  /**
   * Makes a new key; what the old one signed stays valid.
   *
   * `security/key.rotate`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
   * a repetition without a key acts again. Errors of its own:
   * storage_full.
   */
  rotate(params: t.Empty = {}, options?: Options): Promise<t.KeyView> {
    return this.call("security/key.rotate", params, "again", options);
  }
}

/** `security/*` */
export class Security extends Group {
  readonly token: SecurityToken;
  readonly certificate: SecurityCertificate;
  readonly key: SecurityKey;

  constructor(caller: Caller) {
    super(caller);
    this.token = new SecurityToken(caller);
    this.certificate = new SecurityCertificate(caller);
    this.key = new SecurityKey(caller);
  }
}

/** `memory/entry.*` */
export class MemoryEntry extends Group {
  /**
   * Reads a key of an agent's memory.
   *
   * `memory/entry.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  get(params: t.KeyParams, options?: Options): Promise<t.Entry> {
    return this.call("memory/entry.get", params, "safe", options);
  }

  /**
   * Writes a key of an agent's memory.
   *
   * `memory/entry.put`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, version_conflict, too_large, quota_exhausted, invalid_state, storage_full.
   */
  put(params: t.PutParams, options?: Options): Promise<t.Entry> {
    return this.call("memory/entry.put", params, "again", options);
  }

  /**
   * Lists the keys of an agent's memory.
   *
   * `memory/entry.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  list(params: t.KeysParams = {}, options?: Options): Promise<t.EntriesResult> {
    return this.call("memory/entry.list", params, "safe", options);
  }

  /**
   * Removes a key of an agent's memory.
   *
   * `memory/entry.delete`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, version_conflict, invalid_state, storage_full.
   */
  delete(params: t.DeleteParams, options?: Options): Promise<t.Entry> {
    return this.call("memory/entry.delete", params, "same", options);
  }

  /**
   * Lists the versions of a key of an agent's memory.
   *
   * `memory/entry.history`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  history(params: t.KeyParams, options?: Options): Promise<t.EntriesResult> {
    return this.call("memory/entry.history", params, "safe", options);
  }
}

/** `memory/*` */
export class Memory extends Group {
  readonly entry: MemoryEntry;

  constructor(caller: Caller) {
    super(caller);
    this.entry = new MemoryEntry(caller);
  }
}

/** `stream/projection.*` */
export class StreamProjection extends Group {
  /**
   * Lists projections.
   *
   * `stream/projection.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.Empty = {}, options?: Options): Promise<t.ProjectionsResult> {
    return this.call("stream/projection.list", params, "safe", options);
  }

  /**
   * Shows the state of a projection of a target.
   *
   * `stream/projection.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.ProjectionParams, options?: Options): Promise<t.ProjectionView> {
    return this.call("stream/projection.get", params, "safe", options);
  }

  /**
   * Drops what is kept of projections and makes them anew from the first event; progress comes as `core/progress`.
   *
   * `stream/projection.rebuild`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found.
   */
  rebuild(params: t.ProjectionsParams = {}, options?: Options): Promise<t.RebuildResult> {
    return this.call("stream/projection.rebuild", params, "same", options);
  }

  /**
   * Makes projections anew from the first event and compares them with what is kept.
   *
   * `stream/projection.verify`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  verify(params: t.ProjectionsParams = {}, options?: Options): Promise<t.ProjectionVerifyResult> {
    return this.call("stream/projection.verify", params, "safe", options);
  }
}

/** `stream/*` */
export class Stream extends Group {
  readonly projection: StreamProjection;

  constructor(caller: Caller) {
    super(caller);
    this.projection = new StreamProjection(caller);
  }

  /**
   * Reads what a projection of the record says, from any point: events of the log, or what was made of them.
   *
   * `stream/replay`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, replay_gap.
   */
  replay(params: t.ReplayParams = {}, options?: Options): Promise<t.ReplayResult> {
    return this.call("stream/replay", params, "safe", options);
  }

  /**
   * Follows a projection of the record; what it says comes as `stream/event` notifications, and how the subscription is as `stream/state`.
   *
   * `stream/subscribe`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, replay_gap, quota_exhausted.
   */
  subscribe(params: t.SubscribeParams = {}, options?: Options): Promise<t.SubscribeResult> {
    return this.call("stream/subscribe", params, "safe", options);
  }

  /**
   * Ends a subscription.
   *
   * `stream/unsubscribe`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  unsubscribe(params: t.SubscriptionParams, options?: Options): Promise<t.Empty> {
    return this.call("stream/unsubscribe", params, "safe", options);
  }

  /**
   * Tells how far a subscriber has come; with `max_inflight` it makes room for more.
   *
   * `stream/ack`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  ack(params: t.AckParams, options?: Options): Promise<t.AckResult> {
    return this.call("stream/ack", params, "safe", options);
  }

  /**
   * Shows the subscriptions of this connection.
   *
   * `stream/status`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  status(params: t.SubscriptionStatusParams = {}, options?: Options): Promise<t.SubscriptionStatusResult> {
    return this.call("stream/status", params, "safe", options);
  }
}

/** `inference/model.*` */
export class InferenceModel extends Group {
  /**
   * Lists the models that agents' programs say they have.
   *
   * `inference/model.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.ListModelsParams = {}, options?: Options): Promise<t.ModelsResult> {
    return this.call("inference/model.list", params, "safe", options);
  }
}

/** `inference/route.*` */
export class InferenceRoute extends Group {
  /**
   * Tells which model a turn of an agent gets, and why: today its own, the single candidate.
   *
   * `inference/route.resolve`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  resolve(params: t.InferenceParams, options?: Options): Promise<t.RouteDecision> {
    return this.call("inference/route.resolve", params, "safe", options);
  }
}

/** `inference/usage.*` */
export class InferenceUsage extends Group {
  /**
   * Tells what an agent used, as its program says it.
   *
   * `inference/usage.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  get(params: t.InferenceParams, options?: Options): Promise<t.UsageView> {
    return this.call("inference/usage.get", params, "safe", options);
  }
}

/** `inference/limit.*` */
export class InferenceLimit extends Group {
  /**
   * Tells what holds an agent's inference back, and what nobody says.
   *
   * `inference/limit.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  get(params: t.InferenceParams, options?: Options): Promise<t.InferenceLimitsResult> {
    return this.call("inference/limit.get", params, "safe", options);
  }
}

/** `inference/*` */
export class Inference extends Group {
  readonly model: InferenceModel;
  readonly route: InferenceRoute;
  readonly usage: InferenceUsage;
  readonly limit: InferenceLimit;

  constructor(caller: Caller) {
    super(caller);
    this.model = new InferenceModel(caller);
    this.route = new InferenceRoute(caller);
    this.usage = new InferenceUsage(caller);
    this.limit = new InferenceLimit(caller);
  }
}

/** `resource/*` */
export class Resource extends Group {

  constructor(caller: Caller) {
    super(caller);
  }

  /**
   * Shows a resource: what it holds in a version, secrets masked.
   *
   * `resource/get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  get(params: t.GetResourceParams, options?: Options): Promise<t.ResourceView> {
    return this.call("resource/get", params, "safe", options);
  }

  /**
   * Lists resources: configuration and administrative state.
   *
   * `resource/list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * invalid_params.
   */
  list(params: t.ListResourcesParams = {}, options?: Options): Promise<t.ResourcesResult> {
    return this.call("resource/list", params, "safe", options);
  }

  /**
   * Writes a resource, as its next version; what it holds already makes none.
   *
   * `resource/put`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * invalid_params, version_conflict, too_large, quota_exhausted, unsupported, storage_full.
   */
  put(params: t.PutResourceParams, options?: Options): Promise<t.ResourceView> {
    return this.call("resource/put", params, "same", options);
  }

  /**
   * Changes a part of a resource by a JSON merge patch.
   *
   * `resource/patch`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, version_conflict, too_large, unsupported, storage_full.
   */
  patch(params: t.PatchResourceParams, options?: Options): Promise<t.ResourceView> {
    return this.call("resource/patch", params, "same", options);
  }

  /**
   * Ends a resource; its versions stay, and its count goes on if it is written again.
   *
   * `resource/delete`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, version_conflict, unsupported, storage_full.
   */
  delete(params: t.DeleteResourceParams, options?: Options): Promise<t.ResourceView> {
    return this.call("resource/delete", params, "same", options);
  }

  /**
   * Lists the versions of a resource, newest first.
   *
   * `resource/history`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  history(params: t.ResourceHistoryParams, options?: Options): Promise<t.ResourcesResult> {
    return this.call("resource/history", params, "safe", options);
  }
}

/** `capability/invocation.*` */
export class CapabilityInvocation extends Group {
  /**
   * Shows a call and what came of it.
   *
   * `capability/invocation.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.InvocationParams, options?: Options): Promise<t.InvocationView> {
    return this.call("capability/invocation.get", params, "safe", options);
  }

  /**
   * Waits until a call is over.
   *
   * `capability/invocation.await`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  await(params: t.AwaitInvocationParams, options?: Options): Promise<t.InvocationView> {
    return this.call("capability/invocation.await", params, "safe", options);
  }

  /**
   * Takes a call back; what its server did until then is not undone.
   *
   * `capability/invocation.cancel`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found.
   */
  cancel(params: t.InvocationParams, options?: Options): Promise<t.InvocationView> {
    return this.call("capability/invocation.cancel", params, "same", options);
  }

  /**
   * Answers a call of what the calling agent offers; the first answer counts.
   *
   * `capability/invocation.complete`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, permission_denied, invalid_params, invalid_state, fenced, too_large, storage_full.
   */
  complete(params: t.CompleteInvocationParams, options?: Options): Promise<t.InvocationView> {
    return this.call("capability/invocation.complete", params, "again", options);
  }
}

/** `capability/permission.*` */
export class CapabilityPermission extends Group {
  /**
   * Tells what holds for a call, without making it.
   *
   * `capability/permission.evaluate`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, unavailable.
   */
  evaluate(params: t.CapabilityParams, options?: Options): Promise<t.PermissionView> {
    return this.call("capability/permission.evaluate", params, "safe", options);
  }

  /**
   * Decides about a call that waits for leave.
   *
   * `capability/permission.resolve`: writes; a token needs: `approve`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_state, conflict, storage_full.
   */
  resolve(params: t.ResolvePermissionParams, options?: Options): Promise<t.InvocationView> {
    return this.call("capability/permission.resolve", params, "same", options);
  }
}

/** `capability/automation.*` */
export class CapabilityAutomation extends Group {
  /**
   * Lists automations with what they did.
   *
   * `capability/automation.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  list(params: t.Empty = {}, options?: Options): Promise<t.AutomationsResult> {
    return this.call("capability/automation.list", params, "safe", options);
  }

  /**
   * Shows an automation and the times that it fired, newest first.
   *
   * `capability/automation.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.AutomationParams, options?: Options): Promise<t.AutomationView> {
    return this.call("capability/automation.get", params, "safe", options);
  }

  /**
   * Has an automation fire, also one that is not enabled.
   *
   * `capability/automation.fire`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, too_large, backpressure, storage_full.
   */
  fire(params: t.FireAutomationParams, options?: Options): Promise<t.FiringView> {
    return this.call("capability/automation.fire", params, "again", options);
  }
}

/** `capability/webhook.*` */
export class CapabilityWebhook extends Group {
  /**
   * Hands over what came to `/v1/hooks/NAME`; its signature says whether it counts, not who brings it.
   *
   * `capability/webhook.deliver`: writes; a token needs: nothing;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * invalid_params, too_large, backpressure, idempotency_mismatch, storage_full.
   */
  deliver(params: t.DeliverWebhookParams, options?: Options): Promise<t.DeliverWebhookResult> {
    return this.call("capability/webhook.deliver", params, "same", options);
  }
}

/** `capability/*` */
export class Capability extends Group {
  readonly invocation: CapabilityInvocation;
  readonly permission: CapabilityPermission;
  readonly automation: CapabilityAutomation;
  readonly webhook: CapabilityWebhook;

  constructor(caller: Caller) {
    super(caller);
    this.invocation = new CapabilityInvocation(caller);
    this.permission = new CapabilityPermission(caller);
    this.automation = new CapabilityAutomation(caller);
    this.webhook = new CapabilityWebhook(caller);
  }

  /**
   * Lists what connectors offer, with what holds for each for whoever asks.
   *
   * `capability/list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.ListCapabilitiesParams = {}, options?: Options): Promise<t.CapabilitiesResult> {
    return this.call("capability/list", params, "safe", options);
  }

  /**
   * Shows a capability with its schemas.
   *
   * `capability/get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, unavailable.
   */
  get(params: t.CapabilityParams, options?: Options): Promise<t.CapabilityView> {
    return this.call("capability/get", params, "safe", options);
  }

  /**
   * Finds capabilities by words.
   *
   * `capability/search`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * invalid_params.
   */
  search(params: t.SearchCapabilitiesParams, options?: Options): Promise<t.CapabilitiesResult> {
    return this.call("capability/search", params, "safe", options);
  }

  /**
   * Calls a capability: leave first, then the intent, then the act, then what came of it.
   *
   * `capability/invoke`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, policy_blocked, version_conflict, too_large, unavailable, storage_full, unsupported.
   */
  invoke(params: t.InvokeParams, options?: Options): Promise<t.InvocationView> {
    return this.call("capability/invoke", params, "again", options);
  }

  /**
   * Has an agent offer a capability for as long as its epoch lives.
   *
   * `capability/register`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, quota_exhausted, too_large, storage_full.
   */
  register(params: t.RegisterCapabilityParams, options?: Options): Promise<t.RegistrationView> {
    return this.call("capability/register", params, "same", options);
  }

  /**
   * Takes back what an agent offers; calls that run may still be answered.
   *
   * `capability/withdraw`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, storage_full.
   */
  withdraw(params: t.WithdrawCapabilityParams, options?: Options): Promise<t.RegistrationView> {
    return this.call("capability/withdraw", params, "same", options);
  }
}

/** `observe/trace.*` */
export class ObserveTrace extends Group {
  /**
   * Shows a request and what came of it as spans, read from the record.
   *
   * `observe/trace.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.TraceParams = {}, options?: Options): Promise<t.Waterfall> {
    return this.call("observe/trace.get", params, "safe", options);
  }

  /**
   * Says where a request's time went: the critical path, who answers for it, and one verdict.
   *
   * `observe/trace.explain`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  explain(params: t.TraceParams = {}, options?: Options): Promise<t.Explanation> {
    return this.call("observe/trace.explain", params, "safe", options);
  }
}

/** `observe/tap.*` */
export class ObserveTap extends Group {
  /**
   * Follows live what happens, in words; steps come as `observe/tap` notifications.
   *
   * `observe/tap.open`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, quota_exhausted.
   */
  open(params: t.TapParams = {}, options?: Options): Promise<t.TapResult> {
    return this.call("observe/tap.open", params, "safe", options);
  }

  /**
   * Ends a tap.
   *
   * `observe/tap.close`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  close(params: t.SubscriptionParams, options?: Options): Promise<t.Empty> {
    return this.call("observe/tap.close", params, "safe", options);
  }
}

/** `observe/*` */
export class Observe extends Group {
  readonly trace: ObserveTrace;
  readonly tap: ObserveTap;

  constructor(caller: Caller) {
    super(caller);
    this.trace = new ObserveTrace(caller);
    this.tap = new ObserveTap(caller);
  }
}

/** `evidence/audit.*` */
export class EvidenceAudit extends Group {
  /**
   * Recomputes every chain and every recording's digest.
   *
   * `evidence/audit.verify`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * none.
   */
  verify(params: t.Empty = {}, options?: Options): Promise<t.AuditResult> {
    return this.call("evidence/audit.verify", params, "safe", options);
  }
}

/** `evidence/pack.*` */
export class EvidencePack extends Group {
  /**
   * Makes a signed pack of what the record says of an agent, a thread, a turn, a message or the node.
   *
   * `evidence/pack.export`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * invalid_params, not_found, too_large, storage_full.
   */
  export(params: t.PackParams, options?: Options): Promise<t.PackResult> {
    return this.call("evidence/pack.export", params, "again", options);
  }
}

/** `evidence/replay.*` */
export class EvidenceReplay extends Group {
  /**
   * Tells what is needed to run a turn again and to judge what comes of it.
   *
   * `evidence/replay.export`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  export(params: t.CaseExportParams, options?: Options): Promise<t.CaseExportResult> {
    return this.call("evidence/replay.export", params, "safe", options);
  }
}

/** `evidence/gap.*` */
export class EvidenceGap extends Group {
  /**
   * Lists what the record cannot show, and why.
   *
   * `evidence/gap.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.GapsParams = {}, options?: Options): Promise<t.GapsResult> {
    return this.call("evidence/gap.list", params, "safe", options);
  }
}

/** `evidence/*` */
export class Evidence extends Group {
  readonly audit: EvidenceAudit;
  readonly pack: EvidencePack;
  readonly replay: EvidenceReplay;
  readonly gap: EvidenceGap;

  constructor(caller: Caller) {
    super(caller);
    this.audit = new EvidenceAudit(caller);
    this.pack = new EvidencePack(caller);
    this.replay = new EvidenceReplay(caller);
    this.gap = new EvidenceGap(caller);
  }
}

/** `benchmark/trial.*` */
export class BenchmarkTrial extends Group {
  /**
   * Gives an agent a task to measure it: one run, under a dataset and a configuration.
   *
   * `benchmark/trial.start`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * policy_blocked, not_found, invalid_params, invalid_state, idempotency_mismatch, storage_full.
   */
  start(params: t.TrialStartParams, options?: Options): Promise<t.TrialView> {
    return this.call("benchmark/trial.start", params, "again", options);
  }

  /**
   * Writes a trial out: what was measured, what was said and done, what it is worth, and a signed pack.
   *
   * `benchmark/trial.export`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, too_large, storage_full.
   */
  export(params: t.TrialExportParams, options?: Options): Promise<t.TrialExportResult> {
    return this.call("benchmark/trial.export", params, "again", options);
  }
}

/** `benchmark/reward.*` */
export class BenchmarkReward extends Group {
  /**
   * Records what a verifier says that a trial is worth, as it is said.
   *
   * `benchmark/reward.record`: writes; a token needs: `signal`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, permission_denied, conflict, quota_exhausted, storage_full.
   */
  record(params: t.RewardRecordParams, options?: Options): Promise<t.RewardView> {
    return this.call("benchmark/reward.record", params, "same", options);
  }
}

/** `benchmark/run.*` */
export class BenchmarkRun extends Group {
  /**
   * Compares trials that differ in one thing, and records what came of it.
   *
   * `benchmark/run.compare`: writes; a token needs: `signal`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, permission_denied, conflict, storage_full.
   */
  compare(params: t.RunCompareParams, options?: Options): Promise<t.ComparisonView> {
    return this.call("benchmark/run.compare", params, "again", options);
  }
}

/** `benchmark/*` */
export class Benchmark extends Group {
  readonly trial: BenchmarkTrial;
  readonly reward: BenchmarkReward;
  readonly run: BenchmarkRun;

  constructor(caller: Caller) {
    super(caller);
    this.trial = new BenchmarkTrial(caller);
    this.reward = new BenchmarkReward(caller);
    this.run = new BenchmarkRun(caller);
  }
}

/** `workspace/artifact.*` */
export class WorkspaceArtifact extends Group {
  /**
   * Publishes bytes under a name; what is published already becomes the next version of it.
   *
   * `workspace/artifact.publish`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, too_large, quota_exhausted, upstream_failed, storage_full.
   */
  publish(params: t.ArtifactPublishParams, options?: Options): Promise<t.ArtifactView> {
    return this.call("workspace/artifact.publish", params, "same", options);
  }

  /**
   * Shows an artifact and its versions.
   *
   * `workspace/artifact.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.ArtifactParams, options?: Options): Promise<t.ArtifactDetail> {
    return this.call("workspace/artifact.get", params, "safe", options);
  }

  /**
   * Lists artifacts.
   *
   * `workspace/artifact.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.ArtifactListParams = {}, options?: Options): Promise<t.ArtifactListResult> {
    return this.call("workspace/artifact.list", params, "safe", options);
  }

  /**
   * Reads an artifact, or a part of it, after its bytes were held against its digest.
   *
   * `workspace/artifact.read`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state, upstream_failed.
   */
  read(params: t.ArtifactReadParams, options?: Options): Promise<t.ArtifactReadResult> {
    return this.call("workspace/artifact.read", params, "safe", options);
  }

  /**
   * Tells what differs between two versions of an artifact.
   *
   * `workspace/artifact.diff`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state, upstream_failed.
   */
  diff(params: t.ArtifactDiffParams, options?: Options): Promise<t.ArtifactDiffResult> {
    return this.call("workspace/artifact.diff", params, "safe", options);
  }

  /**
   * Writes an artifact to a file of a workspace, whole or not at all.
   *
   * `workspace/artifact.export`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, locked, fenced, upstream_failed, storage_full.
   */
  export(params: t.ArtifactExportParams, options?: Options): Promise<t.ArtifactExportResult> {
    return this.call("workspace/artifact.export", params, "again", options);
  }

  /**
   * Ends an artifact with all its versions; what was said of them stays.
   *
   * `workspace/artifact.delete`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, version_conflict, storage_full.
   */
  delete(params: t.ArtifactDeleteParams, options?: Options): Promise<t.ArtifactView> {
    return this.call("workspace/artifact.delete", params, "again", options);
  }
}

/** `workspace/checkpoint.*` */
export class WorkspaceCheckpoint extends Group {
  /**
   * Keeps the state of a workspace. Agents that work in it are suspended for a moment where that is possible.
   *
   * `workspace/checkpoint.create`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, wrong_workspace, fenced, locked, deadline_exceeded, storage_full.
   */
  create(params: t.CheckpointCreateParams = {}, options?: Options): Promise<t.CheckpointView> {
    return this.call("workspace/checkpoint.create", params, "again", options);
  }

  /**
   * Shows a checkpoint, and what is not in it.
   *
   * `workspace/checkpoint.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.CheckpointParams, options?: Options): Promise<t.CheckpointDetail> {
    return this.call("workspace/checkpoint.get", params, "safe", options);
  }

  /**
   * Lists checkpoints, newest first.
   *
   * `workspace/checkpoint.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.CheckpointListParams = {}, options?: Options): Promise<t.CheckpointListResult> {
    return this.call("workspace/checkpoint.list", params, "safe", options);
  }

  /**
   * Tells what differs between two checkpoints.
   *
   * `workspace/checkpoint.diff`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_state.
   */
  diff(params: t.CheckpointDiffParams, options?: Options): Promise<t.CheckpointDiffResult> {
    return this.call("workspace/checkpoint.diff", params, "safe", options);
  }

  /**
   * Brings a workspace back to a checkpoint of it; what was there is kept first.
   *
   * `workspace/checkpoint.restore`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_state, locked, wrong_workspace, fenced, storage_full.
   */
  restore(params: t.CheckpointRestoreParams, options?: Options): Promise<t.CheckpointRestoreResult> {
    return this.call("workspace/checkpoint.restore", params, "again", options);
  }

  /**
   * Ends a checkpoint; what nobody else needs of it is removed.
   *
   * `workspace/checkpoint.delete`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, locked, storage_full.
   */
  delete(params: t.CheckpointDeleteParams, options?: Options): Promise<t.CheckpointView> {
    return this.call("workspace/checkpoint.delete", params, "again", options);
  }
}

/** `workspace/file.*` */
export class WorkspaceFile extends Group {
  /**
   * Lists files of a workspace, by path.
   *
   * `workspace/file.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, invalid_state.
   */
  list(params: t.FileListParams = {}, options?: Options): Promise<t.FileListResult> {
    return this.call("workspace/file.list", params, "safe", options);
  }

  /**
   * Shows what a file of a workspace is, and its version.
   *
   * `workspace/file.stat`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, invalid_state.
   */
  stat(params: t.FileParams, options?: Options): Promise<t.FileView> {
    return this.call("workspace/file.stat", params, "safe", options);
  }

  /**
   * Reads a file of a workspace, or a part of it.
   *
   * `workspace/file.read`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, invalid_state.
   */
  read(params: t.FileReadParams, options?: Options): Promise<t.FileReadResult> {
    return this.call("workspace/file.read", params, "safe", options);
  }

  /**
   * Finds text in the files of a workspace.
   *
   * `workspace/file.search`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, invalid_state.
   */
  search(params: t.FileSearchParams, options?: Options): Promise<t.FileSearchResult> {
    return this.call("workspace/file.search", params, "safe", options);
  }

  /**
   * Writes a file of a workspace, whole or not at all.
   *
   * `workspace/file.write`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, too_large, locked, wrong_workspace, fenced, storage_full.
   */
  write(params: t.FileWriteParams, options?: Options): Promise<t.FileChangeView> {
    return this.call("workspace/file.write", params, "again", options);
  }

  /**
   * Gives a file, folder or link of a workspace another path.
   *
   * `workspace/file.move`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, conflict, version_conflict, locked, wrong_workspace, fenced, storage_full.
   */
  move(params: t.FileMoveParams, options?: Options): Promise<t.FileChangeView> {
    return this.call("workspace/file.move", params, "again", options);
  }

  /**
   * Removes a file or link of a workspace, or a folder with nothing in it.
   *
   * `workspace/file.delete`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, invalid_state, version_conflict, locked, wrong_workspace, fenced, storage_full.
   */
  delete(params: t.FileDeleteParams, options?: Options): Promise<t.FileChangeView> {
    return this.call("workspace/file.delete", params, "again", options);
  }
}

/** `workspace/lock.*` */
export class WorkspaceLock extends Group {
  /**
   * Takes a lock on paths of a workspace, or has one for longer.
   *
   * `workspace/lock.acquire`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, locked, wrong_workspace, fenced, quota_exhausted, storage_full.
   */
  acquire(params: t.LockAcquireParams = {}, options?: Options): Promise<t.LockView> {
    return this.call("workspace/lock.acquire", params, "again", options);
  }

  /**
   * Gives a lock on paths of a workspace back.
   *
   * `workspace/lock.release`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, permission_denied, fenced, storage_full.
   */
  release(params: t.LockReleaseParams, options?: Options): Promise<t.LockView> {
    return this.call("workspace/lock.release", params, "again", options);
  }

  /**
   * Lists the locks on paths of a workspace.
   *
   * `workspace/lock.list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  list(params: t.LockListParams = {}, options?: Options): Promise<t.LockListResult> {
    return this.call("workspace/lock.list", params, "safe", options);
  }
}

/** `workspace/binding.*` */
export class WorkspaceBinding extends Group {
  /**
   * Binds a workspace to a run or an agent, to be looked at or to be changed, under a number that only grows.
   *
   * `workspace/binding.attach`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, unsupported, locked, quota_exhausted, storage_full.
   */
  attach(params: t.BindingAttachParams, options?: Options): Promise<t.BindingView> {
    return this.call("workspace/binding.attach", params, "same", options);
  }

  /**
   * Ends a binding of a workspace; what is done under it is fenced from then on.
   *
   * `workspace/binding.detach`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, permission_denied, wrong_workspace, fenced, storage_full.
   */
  detach(params: t.BindingDetachParams, options?: Options): Promise<t.BindingView> {
    return this.call("workspace/binding.detach", params, "again", options);
  }
}

/** `workspace/blob.*` */
export class WorkspaceBlob extends Group {
  /**
   * Keeps bytes in a workspace under their digest.
   *
   * `workspace/blob.put`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, invalid_params, invalid_state, too_large, storage_full.
   */
  put(params: t.BlobPutParams = {}, options?: Options): Promise<t.BlobView> {
    return this.call("workspace/blob.put", params, "same", options);
  }

  /**
   * Reads bytes by their digest, or a part of them.
   *
   * `workspace/blob.get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, invalid_state.
   */
  get(params: t.BlobGetParams, options?: Options): Promise<t.BlobReadResult> {
    return this.call("workspace/blob.get", params, "safe", options);
  }

  /**
   * Shows how bytes are kept.
   *
   * `workspace/blob.stat`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  stat(params: t.BlobParams, options?: Options): Promise<t.BlobView> {
    return this.call("workspace/blob.stat", params, "safe", options);
  }
}

/** `workspace/*` */
export class Workspace extends Group {
  readonly artifact: WorkspaceArtifact;
  readonly checkpoint: WorkspaceCheckpoint;
  readonly file: WorkspaceFile;
  readonly lock: WorkspaceLock;
  readonly binding: WorkspaceBinding;
  readonly blob: WorkspaceBlob;

  constructor(caller: Caller) {
    super(caller);
    this.artifact = new WorkspaceArtifact(caller);
    this.checkpoint = new WorkspaceCheckpoint(caller);
    this.file = new WorkspaceFile(caller);
    this.lock = new WorkspaceLock(caller);
    this.binding = new WorkspaceBinding(caller);
    this.blob = new WorkspaceBlob(caller);
  }

  /**
   * Makes a folder known as a workspace; one that is known stays as it is.
   *
   * `workspace/create`: writes; a token needs: `supervise`;
   * a repetition without a key leaves what the first made true. Errors of its own:
   * not_found, permission_denied, invalid_params, invalid_state, storage_full.
   */
  create(params: t.WorkspaceCreateParams = {}, options?: Options): Promise<t.WorkspaceView> {
    return this.call("workspace/create", params, "same", options);
  }

  /**
   * Shows a workspace.
   *
   * `workspace/get`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found.
   */
  get(params: t.WorkspaceParams, options?: Options): Promise<t.WorkspaceView> {
    return this.call("workspace/get", params, "safe", options);
  }

  /**
   * Lists workspaces.
   *
   * `workspace/list`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params.
   */
  list(params: t.WorkspaceListParams = {}, options?: Options): Promise<t.WorkspaceListResult> {
    return this.call("workspace/list", params, "safe", options);
  }

  /**
   * Ends a workspace and its checkpoints; its folder stays as it is.
   *
   * `workspace/delete`: writes; a token needs: `supervise`;
   * a repetition without a key acts again. Errors of its own:
   * not_found, invalid_params, locked, storage_full.
   */
  delete(params: t.WorkspaceDeleteParams, options?: Options): Promise<t.WorkspaceView> {
    return this.call("workspace/delete", params, "again", options);
  }
}

/** `sync/barrier.*` */
export class SyncBarrier extends Group {
  /**
   * Waits until what was written has arrived, and gives a receipt.
   *
   * `sync/barrier.await`: reads; a token needs: `read`;
   * a repetition without a key changes nothing. Errors of its own:
   * not_found, invalid_params, unsupported, replay_gap, deadline_exceeded.
   */
  await(params: t.BarrierAwaitParams, options?: Options): Promise<t.BarrierReceipt> {
    return this.call("sync/barrier.await", params, "safe", options);
  }
}

/** `sync/*` */
export class Sync extends Group {
  readonly barrier: SyncBarrier;

  constructor(caller: Caller) {
    super(caller);
    this.barrier = new SyncBarrier(caller);
  }
}

/** Every profile. */
export class Catalogue {
  readonly core: Core;
  readonly runtime: Runtime;
  readonly conversation: Conversation;
  readonly policy: Policy;
  readonly security: Security;
  readonly memory: Memory;
  readonly stream: Stream;
  readonly inference: Inference;
  readonly resource: Resource;
  readonly capability: Capability;
  readonly observe: Observe;
  readonly evidence: Evidence;
  readonly benchmark: Benchmark;
  readonly workspace: Workspace;
  readonly sync: Sync;

  constructor(caller: Caller) {
    this.core = new Core(caller);
    this.runtime = new Runtime(caller);
    this.conversation = new Conversation(caller);
    this.policy = new Policy(caller);
    this.security = new Security(caller);
    this.memory = new Memory(caller);
    this.stream = new Stream(caller);
    this.inference = new Inference(caller);
    this.resource = new Resource(caller);
    this.capability = new Capability(caller);
    this.observe = new Observe(caller);
    this.evidence = new Evidence(caller);
    this.benchmark = new Benchmark(caller);
    this.workspace = new Workspace(caller);
    this.sync = new Sync(caller);
  }
}
