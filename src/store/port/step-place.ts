/** Where a step stands, and what its request is assembled from. */
import type { Side } from '../../core/author/thread-execution.ts';
import type { ContextMessage } from '../../core/context/context.ts';
import type { Summary } from '../../core/context/summary.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { LoopWarning } from '../../core/guard/loop.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { SummaryKey } from './summary.ts';
import type { ThreadRecord } from './thread.ts';

export interface StepPlace {
  readonly thread: ThreadRecord;
  readonly step: number;
  readonly executionId: string;
  /** Model steps of the execution, this one included. */
  readonly stepCount: number;
  /** Model steps of each side, this one included. */
  readonly sideSteps: SideSteps;
  /** Whose step it is. */
  readonly side: Side;
  /** The execution's scratch. */
  readonly scratch: Readonly<Record<string, unknown>>;
  /** What the execution runs with; null where nobody has given anything. */
  readonly runContext: RunContext | null;
  /** The sub-prompt whose step it is; null for a step of the thread's own. */
  readonly subprompt: SubpromptPlace | null;
  /** Loops that its request reminds of; absent where there are none. */
  readonly loops?: readonly LoopWarning[];
}

/** The stored state that a model's request is assembled from. */
export interface StepContext extends StepPlace {
  /** Oldest first. */
  readonly messages: readonly ContextMessage[];
  /** How many messages stand before the first one, where the window had no room for them. */
  readonly trimmed: number;
  /** What stands in place of all messages until its time: none of them is among `messages`. */
  readonly summary?: Summary;
}

/** How much of a thread's messages a step needs. Those of its own execution are always read, all that no summary covers. */
export interface HistoryWindow {
  /** Messages of earlier executions. */
  readonly includeChat: boolean;
  /** Their tool results. */
  readonly includePastTools: boolean;
  /** What all messages may take together, by estimate (`core/context/context-estimate.ts`); absent: there is no bound. */
  readonly tokens?: number;
  /** How many of the newest messages have their images shown. */
  readonly recentImages: number;
  /** The agent has two AI sides: what the other one's tools did takes no room. */
  readonly twoSides?: boolean;
  /** Whose summaries stand for what is older; absent where none is wanted. */
  readonly summaries?: SummaryKey;
}

/** Where a sub-prompt's step stands: whose call it answers, and with what. */
export interface SubpromptPlace {
  readonly prompt: string;
  /** The call's checked arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The depth of its messages: 1 below the thread's own. */
  readonly depth: number;
  /** The tool message that will hold its result. */
  readonly parentId: string;
  /** Names of the prompts around it, the outermost sub-prompt first, its own last. */
  readonly path: readonly string[];
}
