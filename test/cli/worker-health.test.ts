/**
 * Health and metrics of a worker, read as Prometheus does: while a step runs, after its process was killed, and during
 * shutdown.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { workerBelow } from '../support/process-tree.ts';
import { scrape } from '../support/scrape.ts';
import { type CliProject, cliProject, HELPER, type Running, seen, tailOfNew } from './support.ts';

const START_MS = 120_000;
const ENDLESS = 'hang please';

let project: CliProject;
let command: Running;
let url: string;

/** During the grace period a model that hangs keeps the worker running. */
const start = (args: readonly string[] = []) =>
  project.start(['worker', '--json', ...args], { EVERTHREAD_MODEL_GRACE_MS: '20000' });

const readyLine = (of: Running) =>
  of
    .stdout()
    .split('\n')
    .find((line) => line.includes('"event":"ready"')) ?? '{}';

async function get(path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url + path);
  return { status: response.status, body: await response.json() };
}

beforeAll(async () => {
  project = await cliProject(HELPER);
  command = start(['--health', '127.0.0.1:0']);
  await seen(command, '"event":"ready"', START_MS);
  ({ health: url } = JSON.parse(readyLine(command)));
}, START_MS);
afterAll(() => project.remove());

describe('the health of a worker', () => {
  it('is served on this machine only unless an address is given, and its address is printed at the start', async () => {
    expect(new URL(url).hostname).toBe('127.0.0.1');
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    // It is not ready while the store or the server takes seconds to answer, as on a busy machine.
    const ready = await eventually('it is ready', async () => {
      const answer = await get('/readyz');
      return answer.status === 200 && answer;
    });
    expect(ready.body).toEqual({ status: 'ready', store: true, temporal: true });
    expect((await get('/else')).status).toBe(404);
  });

  it('ends the start with an error if its address is invalid or in use', async () => {
    const [wrong, taken] = await Promise.all([
      project.run(['worker', '--health', 'nowhere']),
      project.run(['worker', '--health', new URL(url).host]),
    ]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain(
      '"nowhere" is not a valid address for health and metrics: write host:port',
    );
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain('the port is already in use');
  });
});

describe('the metrics of a worker', () => {
  it('count steps, tools, model requests, tokens and the store, with names known to the project as labels', async () => {
    await project.run(['threads', 'start', 'helper', 'the weather, please', '--wait']);
    const { value, count } = await scrape(url);
    expect(value('everthread_steps_total', { outcome: 'committed' })).toBeGreaterThanOrEqual(2);
    expect(value('everthread_tool_calls_total', { tool: 'weather', outcome: 'success' })).toBe(1);
    expect(
      value('everthread_model_requests_total', { model: 'scripted', outcome: 'ok' }),
    ).toBeGreaterThanOrEqual(2);
    expect(value('everthread_model_tokens_total', { model: 'scripted', kind: 'output' })).toBeGreaterThan(0);
    expect(count('everthread_model_request_duration_seconds')).toBeGreaterThanOrEqual(2);
    expect(count('everthread_model_first_token_seconds')).toBeGreaterThanOrEqual(1);
    expect(count('everthread_tool_duration_seconds')).toBe(1);
    expect(count('everthread_store_command_duration_seconds')).toBeGreaterThan(0);
    expect(value('everthread_sandbox_runs_total', { status: 'memory' })).toBe(0);
    expect(value('everthread_sandbox_children', {})).toBeDefined();
  });

  it('are those listed in the docs, and no others', async () => {
    const { families } = await scrape(url);
    const own = families.map(({ name }) => name).filter((name) => name.startsWith('everthread_'));
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'production.md'), 'utf8');
    const [, table = ''] = page.split('\n## Metrics\n');
    const listed = [...table.matchAll(/`(everthread_\w+)`/g)].map(([, name = '']) => name);
    expect(own.toSorted()).toEqual([...new Set(listed)].toSorted());
  });

  it('report during a step the running threads, the queue delay, and that the worker takes work', async () => {
    await seen(await tailOfNew(project, ENDLESS), 'I begin');
    // This gauge covers the whole store, and its value may be a few seconds old.
    await eventually('a running thread', async () => {
      const { value } = await scrape(url);
      return (value('everthread_threads', { status: 'running' }) ?? 0) >= 1;
    });
    // What a busy machine does not answer in time has no value in that answer.
    const { value } = await eventually('all that is asked for', async () => {
      const answer = await scrape(url);
      const isReady = answer.value('everthread_worker_ready', {}) === 1;
      return (
        isReady && answer.value('everthread_task_queue_backlog', { type: 'workflow' }) !== undefined && answer
      );
    });
    expect(value('everthread_queue_oldest_seconds', { place: 'store' })).toBe(0);
    expect(value('everthread_worker_up', {})).toBe(1);
  });

  it('survive their process: a killed one is counted, and so is the continued step', async () => {
    process.kill(workerBelow(command.process.pid as number) as number, 'SIGKILL');
    await eventually('the fall is told', async () => {
      const { value } = await scrape(url);
      return value('everthread_worker_process_falls_total', { how: 'signal SIGKILL' }) === 1;
    });
    await eventually(
      'the step is begun again',
      async () => {
        const { value } = await scrape(url);
        return (value('everthread_step_retries_total', { reason: 'worker_lost' }) ?? 0) >= 1;
      },
      START_MS,
    );
    expect((await get('/readyz')).body).toMatchObject({ status: 'ready' });
  });
});

describe('a worker that is shutting down', () => {
  it('is not ready, but alive and measured, while a model may finish', async () => {
    command.process.kill('SIGTERM');
    await seen(command, 'Stopping: running work is finished');
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { status: 'stopping' } });
    expect((await get('/healthz')).status).toBe(200);
    const { value } = await scrape(url);
    expect(value('everthread_worker_ready', {})).toBe(0);
    expect((await command.ended).code).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
