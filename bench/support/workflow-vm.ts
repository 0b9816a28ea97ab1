/**
 * A thread's workflow in the SDK's own reused V8 context, without a server: activations are made by hand, and each run
 * of a script in that context is timed, because the SDK's timeout of 5 s applies to it. Uses internals of the pinned
 * SDK.
 */
import { createRequire } from 'node:module';
import { runInContext, Script } from 'node:vm';
import type { Worker } from '@temporalio/worker';
import { keepPendingStacks } from '../../src/worker/pending-stacks.ts';
import { cachedBundle } from '../../src/workflow-bundle.ts';

const require = createRequire(import.meta.url);
const Long = require('long');
const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm.js');
const { parseWorkflowCode } = require('@temporalio/worker/lib/worker.js') as typeof Worker & {
  parseWorkflowCode(code: string): unknown;
};

export interface Payload {
  readonly metadata?: Readonly<Record<string, Uint8Array>>;
  readonly data?: Uint8Array;
}

export type Job = Readonly<Record<string, unknown>>;

export interface Activated {
  /** Milliseconds of processor time of each run of a script in the workflow's context, which load does not increase. */
  readonly scripts: readonly number[];
  /** Kinds of the resulting commands. */
  readonly commands: readonly string[];
  /** Message of the failure if the workflow task would fail. */
  readonly failure: string | undefined;
  /** The first activity that is scheduled. */
  readonly scheduled: ScheduledActivity | undefined;
}

interface ScheduledActivity {
  readonly seq: number;
  readonly activityType: string;
  readonly arguments?: readonly Payload[];
}

export interface RestingThread {
  activate(jobs: readonly Job[]): Promise<Activated>;
  /** Runs so many steps of a turn, each a model call and a tool call, without ending it; returns the scripts of all. */
  steps(count: number): Promise<Activated>;
  /** Resolves to the JSON of the answer. */
  query(name: string): Promise<string>;
  /** Evaluates code in the context of this workflow. */
  evaluate(code: string): void;
  close(): Promise<void>;
}

export interface WorkflowVm {
  /** Resolves to a thread at rest that has been opened with the state of the store. */
  restingThread(): Promise<RestingThread>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 600_000;
const encoder = new TextEncoder();

export function json(text: string): Payload {
  return { metadata: { encoding: encoder.encode('json/plain') }, data: encoder.encode(text) };
}

export function signal(signalName: string, ...input: readonly Payload[]): Job {
  return { signalWorkflow: { signalName, input, identity: 'bench', headers: {} } };
}

/** Call once per process. Uses our record of pending promises, as a worker's threads do, or the SDK's own. */
export async function openWorkflowVm(keeper: 'ours' | 'sdk' = 'ours'): Promise<WorkflowVm> {
  const { code } = await cachedBundle();
  if (keeper === 'ours') keepPendingStacks();
  const bundle = parseWorkflowCode(code);
  const scripts = timeScripts();
  const names = new Set(['openThread', 'stashItems', 'commitStatus', 'modelStep']);
  const creator = await ReusableVMWorkflowCreator.create(bundle, TIMEOUT_MS, names);
  let count = 0;
  return {
    async restingThread() {
      const runId = `run-${count++}`;
      const workflow = await creator.createWorkflow(createOptions(runId));
      const activate = async (jobs: readonly Job[]): Promise<Activated> => {
        scripts.length = 0;
        const completion = await workflow.activate(activation(runId, jobs));
        const commands: readonly Command[] = completion.successful?.commands ?? [];
        return {
          scripts: [...scripts],
          commands: commands.map((command) => Object.keys(command)[0] ?? ''),
          failure: completion.failed?.failure?.message,
          scheduled: commands.flatMap(({ scheduleActivity }) => scheduleActivity ?? [])[0],
        };
      };
      await activate([initialize(runId)]);
      await activate([resolved(1, opened(runId))]);
      return {
        activate,
        steps: (count) => runSteps(activate, count),
        async query(queryType) {
          const job = { queryWorkflow: { queryId: queryType, queryType, arguments: [] } };
          const { successful } = await workflow.activate(activation(runId, [job]));
          return Buffer.from(successful.commands[0].respondToQuery.succeeded.response.data).toString();
        },
        evaluate: (code) => runInContext(code, creator.context, { filename: 'evaluated.js' }),
        close: () => workflow.dispose(),
      };
    },
    close: () => creator.destroy(),
  };
}

interface Command {
  readonly scheduleActivity?: ScheduledActivity;
}

/** Starts the first step with a message; the others follow, because no step ends the turn. */
async function runSteps(
  activate: (jobs: readonly Job[]) => Promise<Activated>,
  count: number,
): Promise<Activated> {
  const all: Activated[] = [];
  let job = signal('queueMessage', json('{"content":"go"}'));
  for (let activations = 0; activations <= 2 * count; activations++) {
    const activated = await activate([job]);
    const { scheduled, failure } = activated;
    if (!scheduled) throw new Error(`A step goes nowhere: ${failure ?? activated.commands.join(', ')}`);
    const isStep = scheduled.activityType === 'modelStep';
    job = resolved(scheduled.seq, isStep ? stepped(all.length / 2 + 1) : TOOL_DONE);
    all.push(activated);
  }
  return {
    scripts: all.flatMap(({ scripts }) => scripts),
    commands: all.flatMap(({ commands }) => commands),
    failure: undefined,
    scheduled: undefined,
  };
}

/** Records the time of every run of any script in any context, in order. */
function timeScripts(): number[] {
  const times: number[] = [];
  const run = Script.prototype.runInContext;
  Script.prototype.runInContext = function timed(...args) {
    const before = process.threadCpuUsage();
    try {
      return run.apply(this, args);
    } finally {
      const { user, system } = process.threadCpuUsage(before);
      times.push((user + system) / 1000);
    }
  };
  return times;
}

function createOptions(runId: string) {
  const info = {
    workflowId: `thread/${runId}`,
    runId,
    workflowType: 'thread',
    searchAttributes: {},
    taskQueue: 'bench',
    namespace: 'default',
    firstExecutionRunId: runId,
    startTime: new Date(0),
    runStartTime: new Date(0),
    taskTimeoutMs: 10_000,
    attempt: 1,
    historyLength: 3,
    historySize: 1000,
    continueAsNewSuggested: false,
    unsafe: { isReplaying: false, isReplayingHistoryEvents: false },
  };
  return { info, randomnessSeed: [1, 2, 3, 4, 5, 6, 7, 8], now: 1_000, showStackTraceSources: true };
}

function activation(runId: string, jobs: readonly Job[]) {
  return {
    runId,
    timestamp: { seconds: Long.fromNumber(1000), nanos: 0 },
    isReplaying: false,
    historyLength: 10,
    historySizeBytes: Long.fromNumber(1000),
    continueAsNewSuggested: false,
    availableInternalFlags: [1, 2, 3],
    jobs,
  };
}

function initialize(runId: string): Job {
  const start = json(JSON.stringify({ agent: 'helper', threadId: runId }));
  return {
    initializeWorkflow: { workflowType: 'thread', workflowId: `thread/${runId}`, arguments: [start] },
  };
}

export function resolved(seq: number, result: unknown): Job {
  return {
    resolveActivity: { seq, isLocal: false, result: { completed: { result: json(JSON.stringify(result)) } } },
  };
}

const TOOL_DONE = { kind: 'done', name: 'tool', succeeded: true, queued: 0 };

export function stepped(step: number) {
  return {
    kind: 'step',
    step,
    swept: 0,
    answered: true,
    text: true,
    rules: { stopOnResponse: false },
    model: 'scripted',
    moreInput: false,
    taken: { a: step, b: 0 },
    callCount: 1,
    calls: [{ name: 'tool', mode: 'once', timeoutMs: 60_000 }],
  };
}

function opened(storeId: string) {
  const settings = {
    historySoftLimit: 1_000_000,
    modelHeartbeatMs: 10_000,
    toolHeartbeatMs: 10_000,
    stepsPerActivity: 20,
    secondsPerActivity: 30,
    searchAttributes: true,
  };
  return {
    kind: 'open',
    storeId,
    agent: 'helper',
    status: 'idle',
    settings,
    afterStep: 0,
    turnOpen: false,
    waiting: 0,
  };
}
