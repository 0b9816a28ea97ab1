/**
 * The activities of a worker, bound to its ports. Workflows know their types alone. Each folder may import those above it:
 *
 *   base       what every activity is given, the wrapper around it, whose run it is
 *   signals    what author code asks of Temporal: relatives are told, threads woken, families ended
 *   author     the opener of author code: hooks, and work that may take its process down
 *   model      what a request to a model is made of: models, variables, tools offered, attempts, records
 *   model-gate all that surrounds a question to a model, as one list of stages
 *   tool-gate  all that surrounds a tool call, as one list of stages
 *   tool       how a call is dispatched, begun, given up, and settled where its worker was lost
 *   subprompt  a call of a prompt: a question and its calls within a step
 *   subagent   a call of an agent: its thread is made or told, its report delivered
 *   effect     scheduled effects that are due
 *   step       a step, and what begins and ends a turn
 */
import type {
  CommitStatusInput,
  CommitStatusOutcome,
  EffectsDue,
  FinishSubpromptInput,
  ModelStepInput,
  ModelStepOutcome,
  OpenThreadInput,
  OpenThreadOutcome,
  RecordedOutcome,
  RunEffectsOutcome,
  RunRef,
  StashInput,
  SubpromptOutcome,
  ToolCallInput,
  ToolCallOutcome,
} from '../core/thread/step.ts';
import type {
  FinishedSubagent,
  FinishSubagentInput,
  ReportOutcome,
  SubagentOutcome,
  UnstartedOutcome,
} from '../core/thread/subagent-step.ts';
import type { ActivityDependencies } from './base/dependencies.ts';
import { FAULT_ATTEMPTS, guard } from './base/guard.ts';
import { fromRun } from './base/run-ref.ts';
import { tellEffects } from './effect/effects-due.ts';
import { runEffects } from './effect/run-effects.ts';
import { commitStatus } from './step/commit-status.ts';
import { modelStep } from './step/model-step.ts';
import { openThread } from './step/open-thread.ts';
import { stashItems } from './step/stash-items.ts';
import { callSubagent } from './subagent/call.ts';
import { finishSubagent } from './subagent/finish.ts';
import { listUnstarted, reportToParent } from './subagent/report.ts';
import { finishSubprompt } from './subprompt/finish.ts';
import { runSubprompt } from './subprompt/run.ts';
import { recordToolOutcome } from './tool/record-tool-outcome.ts';
import { runTool } from './tool/run-tool.ts';
import { asEndOfCall, asModelStep, asResumableCall } from './tool/unit-of-work.ts';

export interface Activities {
  openThread(input: OpenThreadInput): Promise<OpenThreadOutcome & EffectsDue>;
  stashItems(input: StashInput): Promise<{ readonly waiting: number }>;
  modelStep(input: ModelStepInput): Promise<ModelStepOutcome & EffectsDue>;
  runTool(input: ToolCallInput): Promise<ToolCallOutcome & EffectsDue>;
  /** `runTool` for the tool `run_code`, on a queue of its own. */
  runCode(input: ToolCallInput): Promise<ToolCallOutcome & EffectsDue>;
  recordToolOutcome(input: ToolCallInput): Promise<RecordedOutcome & EffectsDue>;
  runSubprompt(input: ToolCallInput): Promise<SubpromptOutcome & EffectsDue>;
  finishSubprompt(input: FinishSubpromptInput): Promise<ToolCallOutcome & EffectsDue>;
  callSubagent(input: ToolCallInput): Promise<SubagentOutcome & EffectsDue>;
  finishSubagent(input: FinishSubagentInput): Promise<FinishedSubagent & EffectsDue>;
  reportToParent(input: RunRef): Promise<ReportOutcome>;
  listUnstarted(input: RunRef): Promise<UnstartedOutcome>;
  runEffects(input: RunRef): Promise<RunEffectsOutcome & EffectsDue>;
  commitStatus(input: CommitStatusInput): Promise<CommitStatusOutcome & EffectsDue>;
}

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { store } = dependencies;
  const tell = <Input extends RunRef, Output>(run: (input: Input) => Promise<Output>) =>
    tellEffects(dependencies, run);
  const fallible = { faultAttempts: FAULT_ATTEMPTS };
  const runToolCall = guard(
    tell((input: ToolCallInput) => runTool(dependencies, input)),
    fallible,
  );
  const open = (input: OpenThreadInput) => openThread(dependencies, input);
  const runDue = (input: RunRef) => runEffects(dependencies, input);
  return {
    openThread: guard(tellEffects(dependencies, open, { always: true, begun: true })),
    stashItems: guard(({ items, ...run }) => stashItems(store, fromRun(store, run), items)),
    modelStep: guard(tell(asModelStep(dependencies, (input) => modelStep(dependencies, input))), fallible),
    runTool: runToolCall,
    runCode: runToolCall,
    recordToolOutcome: guard(tell((input) => recordToolOutcome(dependencies, input))),
    runSubprompt: guard(
      tell(asResumableCall(dependencies, 'runSubprompt', (input) => runSubprompt(dependencies, input))),
      fallible,
    ),
    finishSubprompt: guard(
      tell(asEndOfCall(dependencies, 'finishSubprompt', (input) => finishSubprompt(dependencies, input))),
    ),
    callSubagent: guard(
      tell(asResumableCall(dependencies, 'callSubagent', (input) => callSubagent(dependencies, input))),
      fallible,
    ),
    finishSubagent: guard(
      tell(asEndOfCall(dependencies, 'finishSubagent', (input) => finishSubagent(dependencies, input))),
    ),
    reportToParent: guard((input) => reportToParent(dependencies, input)),
    listUnstarted: guard((input) => listUnstarted(dependencies, input)),
    runEffects: guard(tellEffects(dependencies, runDue, { always: true }), fallible),
    commitStatus: guard(tell((input) => commitStatus(dependencies, input))),
  };
}
