/** The step that code runs in: what `state.execution` shows of it, and the flow that code may steer. */
import type { PromptDefinition } from '../../core/author/definition.ts';
import type { FlowDirective, Side } from '../../core/author/thread-execution.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { Message } from '../../core/message/message.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { SubpromptPlace } from '../../store/step/step-place-record.ts';

export interface RunningExecution {
  readonly executionId: string;
  readonly step: number;
  readonly stepCount: number;
  readonly sideSteps: SideSteps;
  /** The side that takes the step. */
  readonly side: Side;
  /** The prompt of the step. */
  readonly prompt?: PromptDefinition;
  readonly subprompt: SubpromptPlace | null;
  /** The context as it was given; null if none was given. */
  readonly runContext: RunContext | null;
  readonly history: readonly Message[];
  readonly flow: Flow;
}

/** The directive that code has given to the flow since the step or call began, and its scratch. */
export interface Flow {
  directive: FlowDirective | undefined;
  /** `state.context`: one object for all code of this step or call. */
  readonly scratch: Record<string, unknown>;
}
