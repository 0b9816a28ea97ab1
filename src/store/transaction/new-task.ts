/** The rows with which a task begins, beside its thread's row; written by the task's first run or by its parent. */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { NewTask } from '../task/task-record.ts';
import { insertRows } from './rows.ts';

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
  await insertRows(trx, 'tasks', [
    {
      thread_id: threadId,
      name,
      spec: JSON.stringify(spec),
      scenario_id: scenarioId,
      manifest,
      status: 'running',
      requirements: JSON.stringify(requirements),
      answers: '{}',
      preflight,
      steps: 0,
      spent_pico: 0n,
      worked: 0,
      active_since: now,
      errors: '[]',
      created_at: now,
    },
  ]);
}

/** The data of the first event in a task's log. */
export function toCreatedData({ name, spec }: NewTask) {
  return { taskId: spec.id, name, intent: spec.intent };
}
