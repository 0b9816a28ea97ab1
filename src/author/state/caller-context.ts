/**
 * The context of a ThreadState: the thread, the execution, the tool, and the sink for queued work. Tools, hooks,
 * effects and endpoints get the same ThreadState with different contexts.
 */
import type { RunCode } from '../../core/author/code-execution.ts';
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { ChildRecord } from '../../store/family/family-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { Life } from '../guard/life.ts';
import type { CallGuard } from '../hooks/call-guard.ts';
import type { MessageHooks } from '../hooks/message-hook-port.ts';
import type { AskPort } from '../policy/ask.ts';
import type { RunningExecution } from './running-execution.ts';
import type { ThreadEnv } from './thread-env.ts';
import type { WorkSink } from './work-sink.ts';

export interface CallerContext {
  readonly thread: ThreadRecord;
  /** Key of the work, equal in every attempt and unique to it: ids of what the code creates derive from it. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly life: Life;
  readonly work: WorkSink;
  /** Null at rest: in effects and endpoints. */
  readonly execution: RunningExecution | null;
  /** The tool whose `uses`, options and variables apply; absent outside a tool call. */
  readonly tool?: ToolDefinition;
  readonly idempotencyKey?: string;
  /** Asks people; absent if the code cannot wait. */
  readonly ask?: AskPort;
  /** Metadata that is added to messages which the code creates. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly hooks: MessageHooks;
  /** Runs the hooks before a call that the code makes; absent in hooks themselves, and if there are none. */
  readonly guard?: CallGuard;
  /** The thread's children (`loadChildren`); none if absent. */
  readonly children?: readonly ChildRecord[];
  /** Returns the hooks around messages of a relative that this code reaches; absent in hooks themselves. */
  readonly hooksOf?: HooksOf;
  /** The tool that has reached this thread through another thread's state: its `uses` apply here too. */
  readonly reachingTool?: ToolDefinition;
  /** Id of the thread whose code has reached this one as a relative; this thread's own code if absent. */
  readonly reachedFrom?: string;
}

/** Returns the message hooks for the state of a relative (see `openRelative`). */
export type HooksOf = (
  relative: Pick<CallerContext, 'thread' | 'key' | 'signal' | 'life' | 'work'> & {
    readonly parts: StateParts;
  },
) => MessageHooks;

/** What all ThreadStates of one piece of work share: its variables and its sandbox scope. */
export interface StateParts {
  readonly env: ThreadEnv;
  readonly runCode: RunCode;
}
