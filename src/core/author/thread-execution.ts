/** The part of ThreadState for the current execution (definitions §14.1). */
import type { RunContext } from '../governance/run-context.ts';
import type { Message } from '../message/message.ts';

export type Side = 'a' | 'b';

/** What code may request: to end after this step, or which side acts next. The last request counts. */
export type FlowDirective = 'stop' | Side;
/**
 * A FlowDirective, or a cause within the step: a hook blocked the request of a model step (definitions §9), the sender
 * of the step's tool calls wants no answer to them, code of another process produced the answer, or the answer was
 * rejected, so that the same side answers again.
 */
export type StepDirective = FlowDirective | 'blocked' | 'unanswered' | 'produced' | 'rejected';

/** The execution in which code runs. Null if none runs: in effects and endpoints. */
export interface ExecutionState {
  /** The execution's id. */
  readonly flowId: string;
  readonly currentSide: Side;
  /** Model steps of this execution, the current one included. */
  readonly stepCount: number;
  readonly sideAStepCount: number;
  readonly sideBStepCount: number;
  /** True if `stop()` was called in this step. */
  readonly stopped: boolean;
  readonly stoppedBy?: Side;
  /**
   * Messages of the conversation, silent ones too, oldest first, as of the moment in which this code began. In hooks on
   * a request and on its answer: those of the request. In tools, in hooks around them and around drained items: the
   * newest 100 of the thread; within a sub-prompt, those that its prompt sees. Queued and older messages are not
   * included; `getMessages` returns them.
   */
  readonly messageHistory: readonly Message[];
  /**
   * How the execution runs: its run, session and trace, the agents that have had the work, and what it is confined to.
   * If no context was given, it is made of the execution's own id and place.
   */
  readonly context: RunContext;
  /** Names of the active prompts, the agent's first; a sub-prompt adds its own. */
  readonly promptPath: readonly string[];
  /** Fires when the execution is stopped, the thread is terminated, or the worker must hand over. */
  readonly abortSignal: AbortSignal;
  /**
   * Throws the reason of `abortSignal` once it has fired. Call it between stages of long work, and last before anything
   * irreversible. Code that never awaits anything is not notified of a cancellation.
   */
  throwIfCancelled(): void;
  /**
   * Sets which side acts after this step, overriding the stop rules: the same side continues with another step, or its
   * turn ends and the other side acts. With one AI side, `b` is the person: the execution ends with
   * `forced_human_turn`.
   */
  forceTurn(side: Side): void;
  /** Ends the execution after the current step, with `state_stop_session`; with two AI sides, ends their session. */
  stop(): void;
}
