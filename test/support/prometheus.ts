/**
 * A real Prometheus, on loopback, with the alert rules of `deploy/`. Its programs are those of the path, or in the folder
 * EVERTHREAD_PROMETHEUS: Debian's package `prometheus` has both.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { eventually } from './eventually.ts';
import { ALERTS_FILE } from './monitoring-files.ts';

/** Shorter than in production, so that times to fire are those of the rules alone. */
const INTERVAL = '5s';

/** Throws if the program is not installed. */
function programPath(name: 'prometheus' | 'promtool'): string {
  const { EVERTHREAD_PROMETHEUS: folder, PATH = '' } = process.env;
  const found = [...(folder ? [folder] : []), ...PATH.split(':')]
    .map((place) => join(place, name))
    .find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(
      `${name} is not installed: apt-get install prometheus, or name the folder of its programs in EVERTHREAD_PROMETHEUS.`,
    );
  return found;
}

/** Resolves to what promtool prints; rejects with it if promtool finds a fault. */
export async function promtool(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(programPath('promtool'), args);
  return stdout + stderr;
}

const vectorSchema = z.object({
  status: z.literal('success'),
  data: z.object({
    result: z.array(
      z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) }),
    ),
  }),
});

const alertsSchema = z.object({
  data: z.object({
    alerts: z.array(
      z.object({ labels: z.record(z.string(), z.string()), state: z.enum(['pending', 'firing']) }),
    ),
  }),
});

export interface Prometheus {
  /** Values of an expression now, those that are no numbers left out. Rejects if it fails. */
  query(expr: string): Promise<readonly number[]>;
  /** Names of the alerts that are firing. */
  firing(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

/** `targets`: host and port of what is scraped. */
export async function startPrometheus(folder: string, targets: readonly string[]): Promise<Prometheus> {
  const [port] = await findFreePorts(1);
  const config = join(folder, 'prometheus.yml');
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL },
      rule_files: [ALERTS_FILE],
      scrape_configs: [{ job_name: 'everthread', static_configs: [{ targets }] }],
    }),
  );
  const child = spawn(
    programPath('prometheus'),
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(url + path);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  await eventually('Prometheus is ready', async () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    async query(expr) {
      const { data } = vectorSchema.parse(await get(`/api/v1/query?query=${encodeURIComponent(expr)}`));
      return data.result
        .map(({ value }) => Number(value[1].replace('Inf', 'Infinity')))
        .filter((value) => !Number.isNaN(value));
    },
    async firing() {
      const { data } = alertsSchema.parse(await get('/api/v1/alerts'));
      const firing = data.alerts.filter(({ state }) => state === 'firing');
      return new Set(firing.map(({ labels }) => labels.alertname ?? ''));
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
