/** The rows that a task begins with, beside that of its thread: whoever makes it, its first run or a parent. */
import type { Transaction } from 'kysely';
import type { NewTask } from '../../port/task.ts';
import type { Tables } from '../../schema/tables.ts';

export interface InsertTask {
  readonly threadId: string;
  readonly task: NewTask;
  /** The hash of its manifest. */
  readonly manifest: string | null;
}

export async function insertTask(
  trx: Transaction<Tables>,
  { threadId, task, manifest }: InsertTask,
  now: number,
): Promise<void> {
  const { name, spec, scenarioId, requirements, preflight } = task;
  await trx
    .insertInto('tasks')
    .values({
      thread_id: threadId,
      name,
      spec: JSON.stringify(spec),
      scenario_id: scenarioId,
      manifest,
      status: 'running',
      verdict: null,
      requirements: JSON.stringify(requirements),
      answers: '{}',
      preflight,
      steps: 0,
      spent: 0,
      worked: 0,
      active_since: now,
      errors: '[]',
      records: null,
      created_at: now,
      ended_at: null,
    })
    .execute();
}

/** The data of the event that a task's log begins with. */
export function toldOfNew({ name, spec }: NewTask) {
  return { taskId: spec.id, name, intent: spec.intent };
}
