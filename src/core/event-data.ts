/**
 * The log of a thread: a closed list of what can stand in it, in order, each row with its data (runtime §12). Events are markers of
 * what the store holds: content is in messages, files and values, but for the text that a model streams.
 *
 * A kind keeps its name for ever, since rows of it are kept. A field that is added is optional, or `readEvent` gives rows without it
 * a value. `docs/events.md` is made of this file (`node scripts/write-events.mjs`), from the first comment of each kind.
 */
import type { ErrorCode } from './error.ts';
import type { HookName } from './hook.ts';
import type { ToolStatus } from './message.ts';
import type { ProviderUsage } from './provider.ts';
import type { RestStatus, StoredError, ThreadStatus } from './step.ts';
import type { ReportKind } from './subagent-report.ts';

/** Of a sub-prompt's own step; absent for the thread's. */
interface InSubprompt {
  readonly depth?: number;
}

interface NamedCall {
  readonly name: string;
  readonly callId: string;
}

interface NamedEffect {
  readonly id: string;
  readonly name: string;
}

interface NamedFile {
  readonly path: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
}

/** Where code of the author threw: frames of its own files, without secrets. Shown by `threads show --debug`. */
interface WithStack {
  readonly stack?: string;
}

/** Kind → data. */
export interface EventData {
  /** The thread is there. Of a child, its parent and its name. */
  'thread.created': { readonly agent: string; readonly parentId?: string; readonly name?: string | null };
  /** Its status changed. `reason` says why it rests, `error` why it failed. */
  'thread.status': {
    readonly status: ThreadStatus;
    readonly reason?: string | null;
    readonly error?: StoredError;
  };
  /** Another agent has the thread from here on: a handoff. */
  'thread.agent': { readonly from: string; readonly to: string };
  /** It takes nothing more: the last event of its life. */
  'thread.terminated': { readonly reason: string | null };

  /** An execution began: the thread was at rest, and has something to do. */
  'execution.started': { readonly executionId: string };
  /** It ended, and why. */
  'execution.ended': { readonly executionId: string; readonly reason: string };
  /** A step was stopped in its midst; `keptText`: what it had said stands in a message. */
  'execution.aborted': InSubprompt & { readonly status: RestStatus; readonly keptText: boolean };

  /** A message or a tool call was queued. */
  'item.queued': { readonly id: string; readonly kind: 'message' | 'tool' };
  /** What was sent was refused, and nothing else of it is kept. */
  'item.rejected': { readonly id?: string; readonly code: ErrorCode; readonly reason: string };

  /** A message stands in the thread. */
  'message.created': InSubprompt & { readonly messageId: string; readonly role: string };
  /** A hook or a tool changed it. */
  'message.updated': { readonly messageId: string; readonly role: string };
  /** It is gone. Without a role: it was still in the queue. */
  'message.deleted': { readonly messageId: string; readonly role?: string };
  /** Files that a message names were not there when it was taken. */
  'attachment.missing': { readonly messageId: string; readonly paths: readonly string[] };

  /** A step began, with as many new items in its input. Of a sub-prompt: its prompt, and the call that it answers. */
  'step.started': InSubprompt & {
    readonly items?: number;
    readonly side?: 'b';
    readonly prompt?: string;
    readonly parentStep?: number;
    readonly callId?: string;
  };
  /** Another attempt at the step: the worker that had it was lost. */
  'step.retried': { readonly reason: string };
  /** Its answer is stored, as the message `messageId`; the calls that it asks for follow. */
  'step.committed': InSubprompt & {
    readonly messageId: string;
    readonly model: string;
    /** The provider's word, or `hook_blocked`. */
    readonly finishReason: string;
    readonly usage?: ProviderUsage;
  };
  /** It has no answer, and will have none. */
  'step.failed': StoredError;
  /** Messages that no request could hold any more were left out of it. */
  'context.trimmed': { readonly messages: number };

  /** A model was asked. */
  'model.called': { readonly model: string; readonly modelId: string; readonly call: number };
  /** A piece of its answer. Only these are ever removed: those of a step when the next one is committed. */
  'model.chunk': InSubprompt & { readonly delta: string; readonly call: number };
  /** It has answered. `cost` in US dollars, where its model has prices. */
  'model.answered': {
    readonly call: number;
    readonly usage: ProviderUsage | null;
    readonly cost: number | null;
  };
  /** It has not. With `retryInMs`: it is asked again, so many milliseconds later. */
  'model.failed': Partial<StoredError> & {
    readonly call: number;
    readonly statusCode?: number;
    readonly retryInMs?: number;
  };

  /** A model, or somebody's queued item, asks for a tool. */
  'tool.called': NamedCall & InSubprompt & { readonly queued?: boolean };
  /** It began to run. */
  'tool.started': NamedCall;
  /** It has a result, as the message before this event. */
  'tool.result': NamedCall & InSubprompt & WithStack & { readonly status: ToolStatus };
  /** The worker that ran it was lost, and nobody knows whether it has acted. */
  'tool.unknown': NamedCall & InSubprompt & WithStack & { readonly status: ToolStatus };
  /** A result that came after the call had one. It changes nothing. */
  'tool.late_result': NamedCall & {
    readonly status: ToolStatus;
    readonly result: string;
    readonly attempt: string;
  };
  /** A hook took the call out of the thread. */
  'tool.removed': NamedCall;
  /** Code called a tool itself (`state.invokeTool`). */
  'tool.invoked': { readonly name: string; readonly status: ToolStatus; readonly durationMs: number };

  /** A hook threw, or gave what cannot be used; what it was asked about stays as it was. */
  'hook.failed': WithStack & {
    readonly id: string | null;
    readonly hook: HookName | null;
    readonly error: string;
  };
  /** Code of the author failed where nobody awaits it: a rejection, or a throw out of a timer. */
  'code.stray': WithStack & {
    readonly code: string;
    readonly name: string;
    readonly kind: string;
    readonly error: string;
  };

  /** An effect waits for its time: microseconds since 1970. */
  'effect.scheduled': NamedEffect & { readonly dueAt: number };
  /** An attempt at it began. */
  'effect.started': NamedEffect & { readonly attempt: number };
  /** It has run. */
  'effect.done': NamedEffect;
  /** It has not, and is not tried again. */
  'effect.failed': NamedEffect & WithStack & { readonly error: StoredError };
  /** It was taken back before its time. */
  'effect.cancelled': NamedEffect;

  /** The thread has a child. With `callId`: the call that made it. */
  'subagent.created': {
    readonly childId: string;
    readonly agent: string;
    readonly name: string | null;
    readonly callId?: string;
  };
  /** A call sent a message to a child. */
  'subagent.messaged': { readonly childId: string; readonly agent: string; readonly messageId: string };
  /** A child sent a message here. */
  'subagent.notified': { readonly childId: string; readonly messageId: string };
  /** A child set what it says of itself. */
  'subagent.status': { readonly childId: string; readonly status: string };
  /** A child reported its result; `by`: to the call that waited, or as a message. */
  'subagent.returned': ReportOfChild;
  /** A child reported that it failed, was stopped or was terminated. */
  'subagent.failed': ReportOfChild;
  /** A child needs variables that it does not have: it is made once they are given. */
  'variables.requested': {
    readonly requestId: string;
    readonly agent: string;
    readonly required: readonly string[];
    readonly missing: readonly string[];
  };

  /** A value of the thread changed; never what it is. */
  'value.changed': { readonly key: string };
  /** A file is new. */
  'file.created': NamedFile;
  /** A file has other content. */
  'file.updated': NamedFile;
  /** A file is gone. */
  'file.deleted': NamedFile;

  /** What code of the author tells with `state.emit`, under its own name. */
  custom: { readonly event: string; readonly data: unknown };
}

interface ReportOfChild {
  readonly childId: string;
  readonly agent: string;
  readonly kind: ReportKind;
  readonly by: 'message' | 'call' | 'dropped';
}
