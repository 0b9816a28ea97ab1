/** The part of ThreadState for the current execution (definitions §14.1). */
import type { RunContext } from '../governance/run-context.ts';
import type { Message } from '../message/message.ts';

export type Side = 'a' | 'b';

/** What code may ask of the flow: to end after this step, or who acts next. The last request counts. */
export type FlowDirective = 'stop' | Side;
/**
 * The same for a step: a hook may also have refused the request of a model step (definitions §9), whoever has queued the tools of a step may
 * want no answer to them, and code of another process may have answered.
 */
export type StepDirective = FlowDirective | 'blocked' | 'unanswered' | 'produced';

/** Null where no execution runs: in effects and endpoints. */
export interface ExecutionState {
  /** The execution's id. */
  readonly flowId: string;
  readonly currentSide: Side;
  /** Model steps of this execution, the current one included. */
  readonly stepCount: number;
  readonly sideAStepCount: number;
  readonly sideBStepCount: number;
  /** `stop()` was called in this step. */
  readonly stopped: boolean;
  readonly stoppedBy?: Side;
  /**
   * Messages of the conversation, silent ones too, oldest first, as of the moment in which this code began. In hooks on a request and
   * on its answer: those of the request. In tools, in hooks around them and around what is drained: the newest 100 of the thread;
   * within a sub-prompt, what its prompt sees. What waits in line is not among them; `getMessages` has it, and what is older.
   */
  readonly messageHistory: readonly Message[];
  /**
   * How the execution runs: its run, session and trace, the agents that have had the work, and what it is confined to. Where nobody has given
   * a context, made of the execution's own id and place.
   */
  readonly context: RunContext;
  /** Names of the active prompts, the agent's first; a sub-prompt adds its own. */
  readonly promptPath: readonly string[];
  /** Fires when the execution is stopped, the thread is terminated, or the worker must hand over. */
  readonly abortSignal: AbortSignal;
  /**
   * Throws the reason of `abortSignal` once it has fired: between stages of long work, and last before what cannot be taken back. Work that
   * never awaits anything does not hear of a cancellation.
   */
  throwIfCancelled(): void;
  /**
   * Who acts after this step, whatever the rules say: the same side continues with another step, or its turn ends and the other
   * one acts. With one AI side, `b` is the person: the execution ends with `forced_human_turn`.
   */
  forceTurn(side: Side): void;
  /** Ends the execution after the current step, with `state_stop_session`; with two AI sides, their session. */
  stop(): void;
}
