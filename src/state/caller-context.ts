/**
 * For whom a ThreadState speaks: the thread, the execution, the tool, and where the work goes that it queues. A tool, a hook, an effect
 * and an endpoint are given the same ThreadState in different contexts.
 */
import type { ToolDefinition } from '../core/author/definition.ts';
import type { ChildRecord } from '../store/port/family.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import type { AskPort } from './ask.ts';
import type { CallGuard } from './hooks/call-guard.ts';
import type { MessageHooks } from './hooks/message-hook-port.ts';
import type { RunningExecution } from './running-execution.ts';
import type { StateParts } from './state-parts.ts';
import type { WorkSink } from './work-sink.ts';

export interface CallerContext {
  readonly thread: ThreadRecord;
  /** The same for each attempt of the same work, and for no other: ids of what it makes come from it. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly work: WorkSink;
  /** Null at rest: in effects and endpoints. */
  readonly execution: RunningExecution | null;
  /** Whose `uses`, options and variables hold; absent outside a tool call. */
  readonly tool?: ToolDefinition;
  readonly idempotencyKey?: string;
  /** Asks people; absent where the code cannot wait. */
  readonly ask?: AskPort;
  /** What the messages that it makes tell of it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly hooks: MessageHooks;
  /** The hooks before what it calls; absent in hooks themselves, and where there are none. */
  readonly guard?: CallGuard;
  /** The thread's children (`loadChildren`); none where absent. */
  readonly children?: readonly ChildRecord[];
  /** The hooks around messages of a relative that this code reaches; none where absent, as in hooks themselves. */
  readonly hooksOf?: HooksOf;
  /** The tool that has reached this thread through another one's state: its `uses` hold here too. */
  readonly reachingTool?: ToolDefinition;
  /** The thread whose code has reached this one as a relative; its own where absent. */
  readonly reachedFrom?: string;
}

/** What a relative's state is made from, but for its record: see `toRelative`. */
export type HooksOf = (
  relative: Pick<CallerContext, 'thread' | 'key' | 'signal' | 'work'> & { readonly parts: StateParts },
) => MessageHooks;
