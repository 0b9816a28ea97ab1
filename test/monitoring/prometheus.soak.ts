/**
 * A real Prometheus scrapes a real worker under load: no expression of the dashboards and alerts fails, or has never a
 * value; and each alert fires by the fault that it is for, and ends by what its runbook says. Takes half an hour. Prints
 * the seconds from a fault to its alert, and from the cure to the end of the alert.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject, type Running, seen } from '../cli/support.ts';
import { eventually } from '../support/eventually.ts';
import { type Control, MONITORED, modelFile } from '../support/monitored-project.ts';
import {
  ALERTS_FILE,
  alertExpressions,
  dashboardExpressions,
  readAlerts,
  selectorsOf,
} from '../support/monitoring-files.ts';
import { receiveOtlp } from '../support/otlp-receiver.ts';
import { workerBelow } from '../support/process-tree.ts';
import { type Prometheus, promtool, startPrometheus } from '../support/prometheus.ts';
import { canMount, type SmallDisk, smallDisk } from '../support/small-disk.ts';

/** Between two threads of the load. */
const PACE_MS = 250;
const PATIENCE_MS = 20 * 60_000;
const ROOT = join(import.meta.dirname, '..', '..');
/** Few, so that a fault can take them all. */
const ACTIVITIES = '12';

let project: CliProject;
let prometheus: Prometheus;
let disk: SmallDisk;
let worker: Running;
let health: readonly [string, string];
let receiver: Awaited<ReturnType<typeof receiveOtlp>>;
let isReceiving = true;
let loading = true;
let load: Promise<void>;
const folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER as string, 'prometheus-'));

const control = (state: Control) =>
  writeFileSync(join(project.folder, 'control.json'), JSON.stringify(state));
const command = (...args: string[]) => project.run(args);
const start = async (agent: string, text: string) =>
  (await command('threads', 'start', agent, text)).stdout.trim();

async function startWorker(address: string, activities = ACTIVITIES): Promise<Running> {
  const started = project.start(['worker', '--json', '--health', address], {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    EVERTHREAD_MAX_CONCURRENT_ACTIVITIES: activities,
  });
  await seen(started, '"event":"ready"');
  return started;
}

async function stop(running: Running): Promise<void> {
  running.process.kill('SIGTERM');
  await running.ended;
}

const STARTED = "select seq from events where thread_id = ? and type = 'tool.started'";
const LONG_AGO = 'update threads set waiting_since = waiting_since - 172800000000 where id = ?';

function inStore<T>(work: (store: DatabaseSync) => T): T {
  const store = new DatabaseSync(join(disk.folder, 'store.db'), { timeout: 5000 });
  try {
    return work(store);
  } finally {
    store.close();
  }
}

const seconds = (from: number) => Math.round((performance.now() - from) / 1000);
const fires = async (alert: string) => (await prometheus.firing()).has(alert);

/** Causes a fault, waits until its alert fires, cures it, and waits until the alert has ended, unless its window is long. */
async function shows(
  alert: string,
  fault: () => unknown,
  { cure, ends = true }: { readonly cure: () => unknown; readonly ends?: boolean },
): Promise<void> {
  expect([alert, await fires(alert)]).toEqual([alert, false]);
  const begun = performance.now();
  await fault();
  await eventually(`${alert} fires`, () => fires(alert), PATIENCE_MS);
  const fired = seconds(begun);
  const from = performance.now();
  await cure();
  if (ends) await eventually(`${alert} ends`, async () => !(await fires(alert)), PATIENCE_MS);
  process.stderr.write(`${JSON.stringify({ alert, fired, ended: ends ? seconds(from) : null })}\n`);
}

/** Names of expressions that have had a value. */
const known = new Set<string>();

/** Evaluates all expressions; rejects if one fails. */
async function evaluateAll(): Promise<void> {
  for (const { of, expr } of dashboardExpressions())
    if ((await prometheus.query(expr)).length > 0) known.add(`${of}: ${expr}`);
  for (const { of, expr } of alertExpressions()) {
    await prometheus.query(expr);
    for (const selector of selectorsOf(expr))
      if ((await prometheus.query(selector)).length > 0) known.add(`${of}: ${selector}`);
  }
}

beforeAll(async () => {
  disk = smallDisk(256 * 1024) as SmallDisk;
  receiver = await receiveOtlp((response) => void response.writeHead(isReceiving ? 200 : 400).end('{}'));
  project = await cliProject(MONITORED);
  symlinkSync(disk.folder, join(project.folder, 'data'));
  mkdirSync(join(project.folder, 'node_modules'), { recursive: true });
  symlinkSync(
    join(ROOT, 'node_modules', '@opentelemetry'),
    join(project.folder, 'node_modules', '@opentelemetry'),
  );
  worker = await startWorker('127.0.0.1:0');
  const line = worker
    .stdout()
    .split('\n')
    .find((each) => each.includes('"event":"ready"'));
  const first = new URL(JSON.parse(line ?? '{}').health).host;
  const [address = '', port = ''] = first.split(':');
  health = [first, `${address}:${Number(port) + 1}`];
  prometheus = await startPrometheus(folder, health);
  load = (async () => {
    for (let turn = 0; loading; turn++) {
      const agent = turn % 2 ? 'steady' : 'shaky';
      await start(agent, turn % 3 ? 'the weather' : 'hello').catch(() => undefined);
      await delay(PACE_MS);
    }
  })();
}, PATIENCE_MS);

afterAll(async () => {
  loading = false;
  await load;
  await prometheus?.close();
  await project?.remove();
  await receiver?.close();
  disk?.close();
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

describe('the rules', () => {
  it('are valid, and pass their unit tests', async () => {
    expect(canMount()).toBe(true);
    expect(await promtool('check', 'rules', ALERTS_FILE)).toContain('SUCCESS');
    const tests = join(import.meta.dirname, 'alerts.promtool.yml');
    expect(await promtool('test', 'rules', tests)).toContain('SUCCESS');
  });
});

describe('a worker under load', () => {
  it(
    'makes no alert fire, and no expression fails',
    async () => {
      const done = 'sum(everthread_executions_ended_total{status="idle"})';
      const begun = performance.now();
      await eventually(
        'forty executions, and a minute',
        async () => ((await prometheus.query(done))[0] ?? 0) >= 40 && seconds(begun) > 60,
        PATIENCE_MS,
      );
      await evaluateAll();
      expect([...(await prometheus.firing())]).toEqual([]);
    },
    PATIENCE_MS,
  );
});

describe('an alert', () => {
  it(
    'fires for models that fail, are busy or have no price, threads that fail, people, and spans',
    async () => {
      let asking = '';
      let hanging = '';
      const failing = Promise.withResolvers<void>();
      const all = await Promise.allSettled([
        shows('ModelFails', () => control({ down: true }), {
          cure: async () => {
            await failing.promise;
            control({});
          },
        }),
        shows('ThreadsFail', () => undefined, {
          cure: async () => {
            failing.resolve();
            await eventually('the model answers again', () => {
              return readFileSync(join(project.folder, 'control.json'), 'utf8') === '{}';
            });
            const failed = await command('threads', 'list', '--status', 'failed', '--json');
            const [first] = JSON.parse(failed.stdout).threads;
            await command('threads', 'continue', first.id);
            await eventually('the failed thread goes on', async () => {
              const { thread } = JSON.parse((await command('threads', 'show', first.id, '--json')).stdout);
              return thread.status === 'idle';
            });
          },
          ends: false,
        }),
        shows('SpansDropped', () => (isReceiving = false), { cure: () => (isReceiving = true), ends: false }),
        shows(
          'PriceMissing',
          async () => {
            await start('free', 'hello');
          },
          { cure: () => project.write(modelFile('free')), ends: false },
        ),
        shows(
          'ModelBusy',
          async () => {
            for (let n = 0; n < 60; n++) await start('narrow', `hello ${n}`);
          },
          {
            cure: async () => {
              project.write(modelFile('narrow', { concurrency: 50 }));
              await stop(worker);
              worker = await startWorker(health[0]);
            },
          },
        ),
        shows(
          'PeopleWait',
          async () => {
            asking = await start('steady', 'ask');
            const waits = async () => JSON.parse((await command('waits', 'list', '--json')).stdout).waits;
            await eventually('the thread asks', async () => (await waits()).length === 1);
            // As if it had asked the day before yesterday.
            inStore((store) => store.prepare(LONG_AGO).run(asking));
          },
          {
            cure: async () => {
              const [{ id }] = JSON.parse((await command('waits', 'list', '--json')).stdout).waits;
              await command('waits', 'answer', id, '--value', '"Ada"');
            },
          },
        ),
        shows(
          'ThreadsWait',
          async () => {
            hanging = await start('steady', 'hang');
            await eventually(
              'the thread runs',
              async () => (await command('threads', 'show', hanging)).code === 0,
            );
            await command('threads', 'send', hanging, 'well?');
          },
          { cure: () => command('threads', 'stop', hanging) },
        ),
      ]);
      await evaluateAll();
      expect(all.filter(({ status }) => status === 'rejected')).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'fires for workers that fall, and for calls that they lose',
    async () => {
      const falls = async () => {
        for (let n = 1; n <= 3; n++) {
          const thread = await start('steady', 'pay');
          await eventually(
            'the tool runs',
            () => inStore((store) => store.prepare(STARTED).get(thread)) !== undefined,
            PATIENCE_MS,
          );
          const pid = workerBelow(worker.process.pid as number) as number;
          process.kill(pid, 'SIGKILL');
          await eventually('a worker process is ready again', async () => {
            const { status } = await fetch(`http://${health[0]}/readyz`);
            return status === 200 && workerBelow(worker.process.pid as number) !== pid;
          });
        }
      };
      await Promise.all([
        shows('WorkersFall', falls, { cure: () => undefined, ends: false }),
        shows('ToolOutcomeUnknown', () => undefined, { cure: () => undefined, ends: false }),
      ]);
      await evaluateAll();
    },
    PATIENCE_MS,
  );

  it(
    'fires for tasks that wait, until there is another worker',
    async () => {
      const hanging: string[] = [];
      let second: Running | undefined;
      await shows(
        'TasksWait',
        async () => {
          for (let n = 0; n < 40; n++) hanging.push(await start('steady', 'hang'));
        },
        {
          cure: async () => {
            second = await startWorker(health[1], '200');
          },
        },
      );
      await evaluateAll();
      for (const id of hanging) await command('threads', 'stop', id);
      if (second) await stop(second);
    },
    PATIENCE_MS,
  );

  it(
    'fires for a worker that is blocked',
    async () => {
      await shows(
        'WorkerBlocked',
        async () => {
          control({ blocks: true });
          await start('steady', 'compute');
        },
        { cure: () => control({}) },
      );
      await evaluateAll();
    },
    PATIENCE_MS,
  );

  it(
    'fires for a disk that is full, until there is space',
    async () => {
      await shows('StoreFails', () => disk.fill(), { cure: () => disk.free() });
      await evaluateAll();
    },
    PATIENCE_MS,
  );

  it(
    'fires if there is no worker, until there is one',
    async () => {
      await shows('NoWorkerReady', () => stop(worker), {
        cure: async () => {
          worker = await startWorker(health[0]);
        },
      });
    },
    PATIENCE_MS,
  );
});

describe('every expression', () => {
  it('has had a value', () => {
    const dashboards = dashboardExpressions().map(({ of, expr }) => `${of}: ${expr}`);
    const alerts = alertExpressions().flatMap(({ of, expr }) =>
      selectorsOf(expr).map((selector) => `${of}: ${selector}`),
    );
    expect([...dashboards, ...alerts].filter((each) => !known.has(each))).toEqual([]);
    expect(readAlerts()).toHaveLength(13);
  });
});
