/** `everthread tasks show`: a task with its steps, read from the store. */
import { readTask } from '../../client/lost-task.ts';
import { taskNotFound } from '../../client/tasks.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import { tagOfTask } from '../../core/thread/task-start.ts';
import type { TaskRecord, TaskStepRecord } from '../../store/task/task-record.ts';
import { argument, option, parseWhole } from '../command.ts';
import { storeCommand } from '../connection/find-store.ts';
import { fieldLines, fieldsText, listing } from '../output/listing.ts';
import { shorten } from '../output/terminal-text.ts';

/** Number of threads shown: the latest that the task has started. */
const MAX_THREADS = 20;

export const taskShow = storeCommand({
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

export function describeTask(task: TaskRecord): string[][] {
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
