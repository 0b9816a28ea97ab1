/**
 * What remains of a task whose worker was killed at one of its places: each act at most once, one end, the ledger of a
 * single run.
 */
import { expect } from '@jest/globals';
import type { Cluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

/** Places at which no act can be lost. */
export const SAFE_POINTS: readonly DeathPoint[] = [
  'task_thinking',
  'task_observed',
  'task_decided',
  'task_not_begun',
  'task_act_kept',
  'task_ending',
  'task_ended',
];
/** Places at which an act has begun and its progress is unknown, each with what the ledger has of it then. */
export const UNSAFE_POINTS: readonly (readonly [DeathPoint, readonly string[]])[] = [
  ['task_begun', []],
  ['body_before', []],
  ['body_after', ['0']],
  ['task_acted', ['0']],
];

/** Starts a task whose worker dies at the place, starts another worker, and returns the task's id. */
export async function throughDeath(cluster: Cluster, point: DeathPoint, task = 'write'): Promise<string> {
  cluster.orderDeath(point);
  const { id } = await cluster.client.tasks.start({ task });
  await cluster.died(point);
  await cluster.keep(1);
  return id;
}

async function endOf(cluster: Cluster, id: string) {
  const ended = await cluster.client.tasks.wait(id, { timeoutMs: 300_000 });
  const log = await cluster.store.events.read(`task/${id}`, 0);
  const countOf = (type: string) => log.filter((event) => event.type === type).length;
  expect([countOf('task.ended'), countOf('task.created'), countOf('thread.terminated')]).toEqual([1, 1, 1]);
  expect([countOf('task.decided'), countOf('task.acted')]).toEqual([3, 2]);
  expect(ended).toMatchObject({ status: 'completed', steps: 2, records: [{ steps: 2 }] });
  return { ended, ledger: cluster.ledger(id) };
}

export async function expectWhole(cluster: Cluster, id: string): Promise<void> {
  const { ended, ledger } = await endOf(cluster, id);
  expect(ledger).toEqual(['0', '1']);
  expect(ended.spentCostUsd).toBe(2);
}

export async function expectUnknown(cluster: Cluster, id: string, written: readonly string[]): Promise<void> {
  const { ended, ledger } = await endOf(cluster, id);
  expect(ledger).toEqual([...written, '1']);
  expect(ended.spentCostUsd).toBe(1);
  const [first] = await cluster.client.tasks.listSteps(id);
  expect(first?.outcome).toMatchObject({ ok: false, code: 'ActOutcomeUnknown' });
}
