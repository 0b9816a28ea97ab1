/**
 * `openTask`: the first activity of every run of a task's workflow: registers it with the store, and returns where to
 * go on.
 */
import { findManifest, firstKnowledge } from '../../core/project/new-task.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import { toLimits } from '../../core/task/spec.ts';
import { parseTaskStart } from '../../core/thread/task-start.ts';
import type { OpenTaskInput, OpenTaskOutcome, TaskOutcome } from '../../core/thread/task-step.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { TaskRecord } from '../../store/task/task-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentRunId } from '../base/run-ref.ts';

export async function openTask(
  { store, settings, registry }: ActivityDependencies,
  { threadId, storeId, start: given }: OpenTaskInput,
): Promise<OpenTaskOutcome> {
  if (storeId !== undefined && storeId !== store.id) {
    throw new RuntimeError(
      'StoreMismatch',
      `${threadId} lives in store ${storeId}, but this worker uses store ${store.id}.`,
    );
  }
  const start = await readStart(store, threadId, given);
  const project = registry();
  const { tasks } = project;
  const name = start?.task ?? (await store.threads.get(threadId))?.agent ?? '';
  const manifest = findManifest(project, name);
  if (manifest) await store.tasks.saveManifest(manifest.hash, manifest.document);
  const opened = await store.tasks.open({
    threadId,
    runId: currentRunId(),
    mustExist: storeId !== undefined,
    manifest: manifest?.hash ?? null,
    ...(start
      ? {
          start: {
            name: start.task,
            spec: start.spec,
            scenarioId: start.scenarioId,
            userId: start.userId,
            organizationId: start.organizationId,
            ...firstKnowledge(project, start.task, start.spec),
          },
        }
      : {}),
  });
  if (opened.kind === 'over') return { kind: 'over', storeId: store.id, outcome: toOutcome(opened.task) };
  const { task, rootId } = opened;
  const run = { threadId, runId: currentRunId() };
  const isUnknown = !tasks.has(task.name) && task.steps === 0 && !task.verdict;
  if (isUnknown) await store.tasks.saveDecision({ ...run, step: 0, verdict: unknownTask(task.name) });
  const { maxWallMs } = toLimits({ ...tasks.get(task.name)?.budget, ...task.spec.budget });
  return {
    kind: 'open',
    storeId: store.id,
    settings,
    rootId: rootId === threadId ? undefined : rootId,
    step: task.steps,
    stops: isUnknown || task.verdict ? true : undefined,
    ready: task.preflight === 'over',
    wallLeftMs: Math.max(0, maxWallMs - task.wallMs),
  };
}

/** The input of a start, which a client may have stored. */
async function readStart(
  store: ThreadStore,
  threadId: string,
  given: OpenTaskInput['start'],
): Promise<OpenTaskInput['start']> {
  const stored = given?.stored === undefined ? null : await store.sent.read(threadId, given.stored);
  return stored ? parseTaskStart(stored, threadId) : given;
}

/** The verdict for a task that has not begun. One that has begun waits for a worker that knows it. */
function unknownTask(name: string): TaskVerdict {
  const reason = `There is no task "${name}" in agents/tasks of the worker's project.`;
  return { stoppedBy: 'runtime-error', pass: false, reason };
}

/** The outcome of a task that is over. */
export function toOutcome({ status, verdict, id }: TaskRecord): TaskOutcome {
  if (!verdict || status === 'running' || status === 'waiting')
    throw new Error(`The task "${id}" has ended, but its store has no verdict.`);
  const { stoppedBy, pass } = verdict;
  return { status, stoppedBy, pass };
}
