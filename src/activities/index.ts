/** The activities of a worker, bound to its ports. Workflows know their types alone. */
import type {
  CommitStatusInput,
  CommitStatusOutcome,
  ModelStepInput,
  ModelStepOutcome,
  OpenThreadInput,
  OpenThreadOutcome,
  RecordedOutcome,
  StashInput,
  ToolCallInput,
  ToolCallOutcome,
} from '../core/step.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { FAULT_ATTEMPTS, guard } from './guard.ts';
import { modelStep } from './model-step.ts';
import { openThread } from './open-thread.ts';
import { recordToolOutcome } from './record-tool-outcome.ts';
import { fromRun } from './run-ref.ts';
import { runTool } from './run-tool.ts';

export interface Activities {
  openThread(input: OpenThreadInput): Promise<OpenThreadOutcome>;
  stashItems(input: StashInput): Promise<{ readonly waiting: number }>;
  modelStep(input: ModelStepInput): Promise<ModelStepOutcome>;
  runTool(input: ToolCallInput): Promise<ToolCallOutcome>;
  /** `runTool` for the tool `run_code`, on a queue of its own. */
  runCode(input: ToolCallInput): Promise<ToolCallOutcome>;
  recordToolOutcome(input: ToolCallInput): Promise<RecordedOutcome>;
  commitStatus(input: CommitStatusInput): Promise<CommitStatusOutcome>;
}

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { store, probe } = dependencies;
  const runToolCall = guard((input: ToolCallInput) => runTool(dependencies, input), {
    faultAttempts: FAULT_ATTEMPTS,
  });
  return {
    openThread: guard((input) => openThread(dependencies, input)),
    stashItems: guard(({ items, ...run }) => store.stashItems({ ...fromRun(store, run), items })),
    modelStep: guard((input) => modelStep(dependencies, input), { faultAttempts: FAULT_ATTEMPTS }),
    runTool: runToolCall,
    runCode: runToolCall,
    recordToolOutcome: guard((input) => recordToolOutcome(dependencies, input)),
    commitStatus: guard(async (input) => {
      const outcome = await store.commitStatus({ ...input, ...fromRun(store, input) });
      await probe?.('status_committed');
      return outcome;
    }),
  };
}
