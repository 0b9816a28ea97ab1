/** `everthread tasks …`: start, read and abort tasks. Reading needs only the store. */
import { readTask } from '../../client/lost-task.ts';
import { taskNotFound } from '../../client/tasks.ts';
import { TASK_STATES, type TaskVerdict } from '../../core/task/control.ts';
import { tagOfTask } from '../../core/thread/task-start.ts';
import { shorten } from '../../core/value/shown-text.ts';
import type { TaskRecord, TaskStepRecord } from '../../store/task/task-record.ts';
import {
  argument,
  type CommandDefinition,
  option,
  parseObject,
  parsePositive,
  parseWhole,
  TASK_QUEUE,
  toggle,
} from '../command.ts';
import { clientCommand } from '../connection/client-command.ts';
import { storeCommand } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { fieldLines, fieldsText, listing } from '../output/listing.ts';

const start = clientCommand({
  createStore: true,
  summary: 'start a task',
  description:
    'Starts a task of agents/tasks and prints its id. Starting the same id again attaches to the same task, which continues where it was. ' +
    'With --wait: exit code 0 if it is completed or waits for people, else 1.',
  arguments: { task: argument('name of the task') },
  options: {
    id: option('<id>', 'id of the task (default: generated)'),
    intent: option('<label>', 'label of the operation, without text of a user (default: the name)'),
    inputs: option('<json>', 'what it works on, as a JSON object', parseObject),
    maxSteps: option('<n>', 'how many times it may act or ask', parseWhole),
    maxCost: option('<usd>', 'the most that it may spend', parsePositive),
    maxSeconds: option('<n>', 'how long it may work', parsePositive),
    user: option('<id>', 'id of the user that it works for'),
    scenario: option('<id>', 'scenario by which it is compared'),
    wait: { ...toggle('exit when the task has ended, or waits for people'), short: '-w' },
    timeout: option('<seconds>', 'with --wait: give up after this time', parsePositive),
    ...TASK_QUEUE,
  },
  async act({ tasks: commands }, { task, id, intent, inputs, maxSteps, maxCost, maxSeconds, ...options }) {
    const { user, scenario, wait, timeout } = options;
    const budget = {
      maxSteps,
      maxCostUsd: maxCost,
      maxWallMs: maxSeconds && Math.round(maxSeconds * 1000),
    };
    const started = await commands.start({
      task,
      id,
      intent,
      inputs,
      budget: Object.values(budget).some((most) => most !== undefined) ? budget : undefined,
      userId: user,
      scenarioId: scenario,
    });
    if (!wait) return { json: started, text: started.id };
    const ended = await commands.wait(started.id, { timeoutMs: timeout && timeout * 1000 });
    const rests = ended.status === 'completed' || ended.status === 'waiting';
    return { json: ended, text: fieldsText(describeTask(ended)), exit: rests ? EXIT.done : EXIT.failed };
  },
});

const list = storeCommand({
  summary: 'list tasks, the latest first',
  description: 'Lists tasks, the latest first. With --json: { tasks }.',
  options: {
    task: option('<name>', 'only those of this name'),
    status: option('<status>', 'only those in this status', TASK_STATES),
    user: option('<id>', 'only those of this user'),
    limit: option('<n>', 'at most n', parseWhole, 50),
  },
  async read(store, { task, status, user, limit }) {
    // Tasks whose process was lost are ended first, even if no worker has checked.
    await store.producers.closeLost();
    const found = await store.tasks.list({ limit, name: task, status, userId: user });
    return listing('tasks', found, {
      columns: {
        TASK: 'id',
        NAME: ['name', 30],
        STATUS: 'status',
        STEPS: 'steps',
        STARTED: 'createdAt',
        REASON: ({ verdict }) => shorten(verdict?.reason ?? '', 50),
      },
      none: 'No matching tasks.',
      limit,
      more: () => '--limit shows more.',
    });
  },
});

const abort = clientCommand({
  summary: 'abort a task',
  description:
    'Aborts a task: its current work is interrupted, and it ends as aborted. A task that has ended does not change.',
  arguments: { id: argument('id of the task', 'task') },
  options: { reason: option('<text>', 'why'), ...TASK_QUEUE },
  async act({ tasks: commands }, { id, reason }) {
    await commands.abort(id, reason);
    return { json: { id }, note: `Asked task ${id} to end.` };
  },
});

/** `everthread tasks show`: a task with its steps, read from the store. */

/** Number of threads shown: the latest that the task has started. */
const MAX_THREADS = 20;

const show = storeCommand({
  summary: 'show a task with its steps',
  description:
    'Shows a task: its input, how it ended, and its steps. With --json: { task, steps, waits, threads }; threads are the latest 20 that it has started.',
  arguments: { id: argument('id of the task', 'task') },
  options: { steps: option('<n>', 'at most n steps, the newest ones', parseWhole, 20) },
  async read(store, { id, steps: most }) {
    const task = await readTask(store, id);
    if (!task) throw taskNotFound(id);
    const steps = await store.tasks.listSteps(id, Math.max(0, task.steps - most), most + 1);
    const { threadId, endedAt } = task;
    const waits = endedAt === null ? await store.waits.list({ threadId }) : [];
    const threads = await store.threads.list({ tag: tagOfTask(threadId), limit: MAX_THREADS });
    const fields = fieldsText([
      ...describeTask(task),
      ...waits.map((wait) => ['waits', `${wait.id} ${wait.summary}`]),
      ...threads.map(({ id: each, agent, status }) => ['thread', `${each} (${agent}, ${status})`]),
    ]);
    const { text } = listing('steps', steps, {
      columns: {
        STEP: 'step',
        SCORE: ({ score }) => String(score ?? '-'),
        DID: (step) => shorten(decisionText(step), 60),
        OUTCOME: (step) => shorten(outcomeText(step), 60),
      },
      none: '',
    });
    return {
      json: { task, steps, waits, threads },
      text: text === undefined ? fields : `${fields}\n\n${text}`,
    };
  },
});

function describeTask(task: TaskRecord): string[][] {
  const { verdict, spec, spentCostUsd, errors } = task;
  return [
    ...fieldLines(task, {
      task: 'id',
      name: 'name',
      intent: () => (spec.intent === task.name ? null : spec.intent),
      inputs: () => shortJson(spec.inputs),
      parent: 'parentId',
      status: 'status',
      'stopped by': () => verdict && stopText(verdict),
      reason: () => verdict && shorten(verdict.reason, 400),
      score: () => verdict?.score?.toString(),
      outcome: () => shortJson(verdict?.outcome),
      steps: 'steps',
      'at work': ({ wallMs }) => `${(wallMs / 1000).toFixed(1)} s`,
      spent: () => (spentCostUsd > 0 ? `${spentCostUsd} USD` : null),
      started: 'createdAt',
      ended: 'endedAt',
    }),
    ...errors.map(({ phase, stepIndex, message }) => [
      'error',
      shorten(`${phase}, step ${stepIndex}: ${message}`, 300),
    ]),
    ...fieldLines(task, { records: ({ records }) => records?.length.toString() }),
  ];
}

function shortJson(value: unknown): string | undefined {
  return value === undefined ? undefined : shorten(JSON.stringify(value), 400);
}

function stopText({ stoppedBy, limit, code = limit }: TaskVerdict): string {
  return code ? `${stoppedBy} (${code})` : stoppedBy;
}

function decisionText({ decision }: TaskStepRecord): string {
  switch (decision?.kind) {
    case 'act':
      return `act ${JSON.stringify(decision.action)}`;
    case 'ask':
      return `ask ${decision.question}`;
    case 'await':
      return `await ${decision.threadId}`;
    case 'stop':
      return `stop ${decision.pass ? 'passed' : 'failed'}`;
    default:
      return '';
  }
}

function outcomeText({ outcome, act }: TaskStepRecord): string {
  if (!outcome) return act ?? '';
  return outcome.ok ? (JSON.stringify(outcome.result ?? null) ?? '') : `failed: ${outcome.error}`;
}

export const taskCommands: CommandDefinition = {
  description:
    'A task observes its domain, measures it, decides and acts, until it is done (docs/tasks.md). Its questions are answered with "everthread waits".',
  commands: { start, list, show, abort },
};
