/** The place of a step in its thread, and what its request is made from. */
import type { Side } from '../../core/author/thread-execution.ts';
import type { ContextMessage } from '../../core/context/context.ts';
import type { Scale } from '../../core/context/context-estimate.ts';
import type { ModelCounts } from '../../core/context/model-count.ts';
import type { Summary } from '../../core/context/summary.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { LoopWarning } from '../../core/guard/loop.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { ThreadRecord } from '../thread/thread-record.ts';
import type { SummaryKey } from './summary-record.ts';

export interface StepPlace {
  readonly thread: ThreadRecord;
  readonly step: number;
  readonly executionId: string;
  /** Number of model steps of the execution, this one included. */
  readonly stepCount: number;
  /** Number of model steps of each side, this one included. */
  readonly sideSteps: SideSteps;
  /** The side whose step it is. */
  readonly side: Side;
  /** The execution's scratch data (`state.context`). */
  readonly scratch: Readonly<Record<string, unknown>>;
  /** Run context of the execution; null if none was given. */
  readonly runContext: RunContext | null;
  /** The sub-prompt that the step belongs to; null if it belongs to none. */
  readonly subprompt: SubpromptPlace | null;
  /** Loops that its request must warn of; absent if there are none. */
  readonly loops?: readonly LoopWarning[];
  /** How models have counted the thread's requests. */
  readonly counts?: ModelCounts;
}

/** The stored state that a model's request is assembled from. */
export interface StepContext extends StepPlace {
  /** Oldest first. */
  readonly messages: readonly ContextMessage[];
  /** Number of messages before the first one that the window had no room for. */
  readonly trimmed: number;
  /** Summary that replaces all messages up to its time; none of those is among `messages`. */
  readonly summary?: Summary;
}

/**
 * How much of a thread's history a step needs. Messages of its own execution that no summary covers are always read.
 */
export interface HistoryWindow {
  /** True to include messages of earlier executions. */
  readonly includeChat: boolean;
  /** True to include the tool results of earlier executions. */
  readonly includePastTools: boolean;
  /** Limit of the estimated tokens of all messages (`core/context/context-estimate.ts`); absent if there is none. */
  readonly tokens?: number;
  /** How the tokens of a message are estimated. */
  readonly scale?: Scale;
  /** Number of newest messages whose images are shown. */
  readonly recentImages: number;
  /** True if the agent has two AI sides: tool messages of the other side then take no room. */
  readonly twoSides?: boolean;
  /** Which summaries may replace older messages; absent if none may. */
  readonly summaries?: SummaryKey;
}

/** The place of a sub-prompt's step: the call that it answers, and the call's arguments. */
export interface SubpromptPlace {
  readonly prompt: string;
  /** The call's checked arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Depth of its messages: 1 or more; that of the thread's own is 0. */
  readonly depth: number;
  /** The tool message that will hold its result. */
  readonly parentId: string;
  /** Names of the prompts around it, the outermost sub-prompt first, its own last. */
  readonly path: readonly string[];
}
