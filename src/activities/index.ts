/**
 * The implementations of the activities (core/thread/activities.ts), and the activities of a worker, bound to its ports.
 * Each folder may import those above it:
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
import type { Registry } from '../core/author/registry.ts';
import {
  ACTIVITIES,
  type Activities,
  type ActivityInput,
  type ActivityName,
  type ActivityOutcome,
} from '../core/thread/activities.ts';
import { ActivityLoad } from './base/activity-load.ts';
import type { ActivityDependencies } from './base/dependencies.ts';
import { guard } from './base/guard.ts';
import { runEffects } from './effect/run-effects.ts';
import { answerWait, cancelExecution, stashItems } from './step/arrivals.ts';
import { commitStatus } from './step/commit-status.ts';
import { MODEL_STEP } from './step/model-step.ts';
import { openThread } from './step/open-thread.ts';
import { callSubagent } from './subagent/call.ts';
import { finishSubagent } from './subagent/finish.ts';
import { listUnstarted, reportToParent } from './subagent/report.ts';
import { finishSubprompt, runSubprompt } from './subprompt/run.ts';
import { openTask } from './task/open-task.ts';
import { ACT_PHASE, CHECK_PHASE, END_PHASE, THINK_PHASE } from './task/phase.ts';
import { recordToolOutcome } from './tool/record-tool-outcome.ts';
import { CALL_UNIT, callEndUnit } from './tool/resumable-call.ts';
import { runTool } from './tool/run-tool.ts';
import { type Implementation, wrapActivity } from './wrappers.ts';

const IMPLEMENTATIONS = {
  openThread,
  stashItems,
  cancelExecution,
  modelStep: MODEL_STEP,
  runTool,
  runCode: runTool,
  recordToolOutcome,
  answerWait,
  runSubprompt: { run: runSubprompt, ...CALL_UNIT },
  finishSubprompt: { run: finishSubprompt, ...callEndUnit('subprompt') },
  callSubagent: { run: callSubagent, ...CALL_UNIT },
  finishSubagent: { run: finishSubagent, ...callEndUnit('subagent') },
  reportToParent,
  listUnstarted,
  runEffects,
  commitStatus,
  openTask,
  checkTask: CHECK_PHASE,
  thinkTask: THINK_PHASE,
  actTask: ACT_PHASE,
  endTask: END_PHASE,
} satisfies {
  readonly [Name in ActivityName]: Implementation<ActivityInput<Name>, ActivityOutcome<Name>>;
};

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { stopWithinMs, slots } = dependencies;
  const load = new ActivityLoad(slots);
  const ports = { ...dependencies, load };
  const activities = (Object.keys(ACTIVITIES) as ActivityName[]).map((name) => {
    const run = wrapActivity(IMPLEMENTATIONS, name);
    const { faultAttempts, queue } = ACTIVITIES[name];
    const begin = (input: ActivityInput<ActivityName>) => run(onOneProject(ports), input);
    // The others have slots of their own.
    const attempt = queue ? begin : (input: ActivityInput<ActivityName>) => load.run(() => begin(input));
    return [name, guard(attempt, { stopWithinMs, faultAttempts })];
  });
  return Object.fromEntries(activities);
}

/**
 * `everthread dev` replaces the project when a file changes. An attempt at an activity uses one project from beginning
 * to end, or for each of its steps; otherwise a step could name the tools of one and run the hooks of another.
 */
function onOneProject(dependencies: ActivityDependencies): ActivityDependencies {
  let project: Registry | undefined;
  return {
    ...dependencies,
    onNewestProject: () => onOneProject(dependencies),
    registry() {
      project ??= dependencies.registry();
      return project;
    },
  };
}
