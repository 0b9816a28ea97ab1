/**
 * The activities of a worker, bound to its ports. Workflows import only their types. Each folder may import those above
 * it:
 *
 *   base       dependencies of every activity, the wrapper around it, the identity of the calling run
 *   signals    signals from activities to workflows: relatives are woken, stopped and terminated
 *   author     runs author code: hooks, and units of work that may take the process down
 *   model      the parts of a request to a model: models, variables, offered tools, attempts, records
 *   model-gate the stages around a request to a model, as one list
 *   tool-gate  the stages around a tool call, as one list
 *   tool       dispatches, begins and gives up calls, and settles calls whose worker was lost
 *   subprompt  a call of a prompt: a request to a model and its calls, within a step
 *   subagent   a call of an agent: its thread is made or messaged, its report delivered
 *   effect     scheduled effects that are due
 *   step       a step, and what begins and ends a turn
 *   task       a task's loop: its preflight, the phases of its steps, its end
 */

import type { CancelVerdict } from '../core/governance/cancellation.ts';
import type { EffectsDue, RunEffectsInput, RunEffectsOutcome } from '../core/thread/effect-batch.ts';
import type { CallWithNext, LastCallInput, StepInput, StepWithNext } from '../core/thread/next-step.ts';
import type { OpenThreadInput, OpenThreadOutcome } from '../core/thread/open-thread.ts';
import { refuseContent } from '../core/thread/signalled-content.ts';
import type {
  CancelExecutionInput,
  CommitStatusInput,
  CommitStatusOutcome,
  ModelStepOutcome,
  RecordedOutcome,
  RunRef,
  StashInput,
  ToolCallInput,
  ToolCallOutcome,
} from '../core/thread/step.ts';
import type {
  FinishedSubagent,
  FinishSubagentInput,
  ReportOutcome,
  UnstartedOutcome,
} from '../core/thread/subagent-step.ts';
import type { FinishSubpromptInput } from '../core/thread/subprompt-result.ts';
import type {
  ActAttempt,
  EndTaskInput,
  OpenTaskInput,
  OpenTaskOutcome,
  ReadinessOutcome,
  TaskOutcome,
  TaskStepInput,
  ThoughtOutcome,
} from '../core/thread/task-step.ts';
import type {
  AnswerWaitInput,
  SubagentAttempt,
  SubpromptAttempt,
  ToolAttempt,
  WaitAnswerOutcome,
} from '../core/thread/wait-step.ts';
import type { ActivityDependencies } from './base/dependencies.ts';
import { type Activity, FAULT_ATTEMPTS, type GuardOptions, guard } from './base/guard.ts';
import { onOneProject } from './base/one-project.ts';
import { fromRun } from './base/run-ref.ts';
import { type EffectsDueOptions, withEffectsDue } from './effect/effects-due.ts';
import { runEffects } from './effect/run-effects.ts';
import { cancelExecution } from './step/cancel-execution.ts';
import { commitStatus } from './step/commit-status.ts';
import { modelStep } from './step/model-step.ts';
import { openThread } from './step/open-thread.ts';
import { withQuickCalls } from './step/quick-calls.ts';
import { stashItems } from './step/stash-items.ts';
import { callSubagent } from './subagent/call.ts';
import { finishSubagent } from './subagent/finish.ts';
import { listUnstarted, reportToParent } from './subagent/report.ts';
import { finishSubprompt } from './subprompt/finish.ts';
import { runSubprompt } from './subprompt/run.ts';
import { openTask } from './task/open-task.ts';
import { runAct, runCheck, runEnd, runThink } from './task/phase.ts';
import { answerWait } from './tool/answer-wait.ts';
import { withNextAfterStep, withNextStep } from './tool/next-step.ts';
import { recordToolOutcome } from './tool/record-tool-outcome.ts';
import { runTool } from './tool/run-tool.ts';
import { asCallEnd, asModelStep, asResumableCall } from './tool/unit-of-work.ts';

export interface Activities {
  openThread(input: OpenThreadInput): Promise<OpenThreadOutcome & EffectsDue>;
  stashItems(input: StashInput): Promise<{ readonly waiting: number }>;
  cancelExecution(input: CancelExecutionInput): Promise<CancelVerdict>;
  /**
   * Runs a step. With `next`, also runs the step after it if all calls of the first are quick and nothing forbids it.
   */
  modelStep(input: StepInput): Promise<(ModelStepOutcome | StepWithNext) & EffectsDue>;
  /** Runs a tool call. With `next`, also runs the step after it if nothing forbids it. */
  runTool(input: LastCallInput): Promise<(ToolAttempt | CallWithNext) & EffectsDue>;
  /** `runTool` for the tool `run_code`, on a separate task queue. */
  runCode(input: ToolCallInput): Promise<ToolAttempt & EffectsDue>;
  answerWait(input: AnswerWaitInput): Promise<WaitAnswerOutcome>;
  recordToolOutcome(input: ToolCallInput): Promise<RecordedOutcome & EffectsDue>;
  runSubprompt(input: ToolCallInput): Promise<SubpromptAttempt & EffectsDue>;
  finishSubprompt(input: FinishSubpromptInput): Promise<ToolCallOutcome & EffectsDue>;
  callSubagent(input: ToolCallInput): Promise<SubagentAttempt & EffectsDue>;
  finishSubagent(input: FinishSubagentInput): Promise<FinishedSubagent & EffectsDue>;
  reportToParent(input: RunRef): Promise<ReportOutcome>;
  listUnstarted(input: RunRef): Promise<UnstartedOutcome>;
  runEffects(input: RunEffectsInput): Promise<RunEffectsOutcome & EffectsDue>;
  commitStatus(input: CommitStatusInput): Promise<CommitStatusOutcome & EffectsDue>;
  openTask(input: OpenTaskInput): Promise<OpenTaskOutcome>;
  checkTask(input: TaskStepInput): Promise<ReadinessOutcome>;
  thinkTask(input: TaskStepInput): Promise<ThoughtOutcome>;
  actTask(input: TaskStepInput): Promise<ActAttempt>;
  endTask(input: EndTaskInput): Promise<TaskOutcome>;
}

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { store, stopWithinMs } = dependencies;
  const fallible = { faultAttempts: FAULT_ATTEMPTS };
  const guarded = <Input, Output>(
    run: Activity<Input, Output>,
    options: Pick<GuardOptions, 'faultAttempts'> = {},
  ) => guard(run, { stopWithinMs, ...options });
  const on = <Input, Output>(bind: (ports: ActivityDependencies) => Activity<Input, Output>) =>
    onOneProject(dependencies, bind);
  const signalling = <Input extends { readonly threadId: string }, Output>(
    bind: (ports: ActivityDependencies) => Activity<Input, Output>,
    options?: EffectsDueOptions,
  ) => on<Input, Output & EffectsDue>((ports) => withEffectsDue(ports, bind(ports), options));
  const runStep = (ports: ActivityDependencies) =>
    withQuickCalls(
      ports,
      asModelStep(ports, (input) => modelStep(ports, input)),
    );
  const runToolCall = (ports: ActivityDependencies) =>
    withEffectsDue(ports, (input: ToolCallInput) => runTool(ports, input));
  const runToldStep = (ports: ActivityDependencies) => withEffectsDue(ports, runStep(ports));
  const runLastCall = (ports: ActivityDependencies) =>
    withNextStep(ports, runToolCall(ports), runToldStep(ports));
  const runSteps = (ports: ActivityDependencies) => withNextAfterStep(ports, runToldStep(ports));
  const runSubpromptStep = (ports: ActivityDependencies) =>
    withQuickCalls(
      ports,
      asResumableCall(ports, 'runSubprompt', (input) => runSubprompt(ports, input)),
    );
  const open = (ports: ActivityDependencies) => (input: OpenThreadInput) => openThread(ports, input);
  const runDue = (ports: ActivityDependencies) => (input: RunEffectsInput) => runEffects(ports, input);
  return {
    openThread: guarded(signalling(open, { always: true, begun: true })),
    stashItems: guarded(({ items, ...run }) =>
      stashItems(store, fromRun(store, run), dependencies.refusesContent ? refuseContent(items) : { items }),
    ),
    cancelExecution: guarded(on((ports) => (input) => cancelExecution(ports, input))),
    modelStep: guarded(on(runSteps), fallible),
    runTool: guarded(on(runLastCall), fallible),
    runCode: guarded(on(runToolCall), fallible),
    answerWait: guarded((input) => answerWait(dependencies, input)),
    recordToolOutcome: guarded(signalling((ports) => (input) => recordToolOutcome(ports, input))),
    runSubprompt: guarded(signalling(runSubpromptStep), fallible),
    finishSubprompt: guarded(
      signalling((ports) => asCallEnd(ports, 'finishSubprompt', (input) => finishSubprompt(ports, input))),
    ),
    callSubagent: guarded(
      signalling((ports) => asResumableCall(ports, 'callSubagent', (input) => callSubagent(ports, input))),
      fallible,
    ),
    finishSubagent: guarded(
      signalling((ports) => asCallEnd(ports, 'finishSubagent', (input) => finishSubagent(ports, input))),
    ),
    reportToParent: guarded(on((ports) => (input) => reportToParent(ports, input))),
    listUnstarted: guarded(on((ports) => (input) => listUnstarted(ports, input))),
    runEffects: guarded(signalling(runDue, { always: true }), fallible),
    commitStatus: guarded(signalling((ports) => (input) => commitStatus(ports, input))),
    openTask: guarded(on((ports) => (input) => openTask(ports, input))),
    checkTask: guarded(
      on((ports) => (input) => runCheck(ports, input)),
      fallible,
    ),
    thinkTask: guarded(
      on((ports) => (input) => runThink(ports, input)),
      fallible,
    ),
    actTask: guarded(
      on((ports) => (input) => runAct(ports, input)),
      fallible,
    ),
    endTask: guarded(on((ports) => (input) => runEnd(ports, input))),
  };
}
