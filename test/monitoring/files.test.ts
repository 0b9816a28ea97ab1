/** Alert rules and dashboards name what a real worker exports, and each alert has its runbook. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject, HELPER, seen } from '../cli/support.ts';
import {
  alertExpressions,
  dashboardExpressions,
  readAlerts,
  readDashboards,
  selectorsOf,
} from '../support/monitoring-files.ts';
import { type Scraped, scrape } from '../support/scrape.ts';

const START_MS = 120_000;
let project: CliProject;
let scraped: Scraped;

beforeAll(async () => {
  project = await cliProject(HELPER);
  const worker = project.start(['worker', '--json', '--health', '127.0.0.1:0']);
  await seen(worker, '"event":"ready"', START_MS);
  const [ready = '{}'] = worker
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"event":"ready"'));
  await project.run(['threads', 'start', 'helper', 'the weather, please', '--wait']);
  scraped = await scrape(JSON.parse(ready).health);
}, START_MS);
afterAll(() => project.remove());

/** Names as PromQL has them: a histogram is three series. */
function exported(): ReadonlySet<string> {
  return new Set(
    scraped.families.flatMap(({ name, type }) =>
      type === 'HISTOGRAM' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

const FUNCTIONS = /^(sum|max|min|count|by|and|or|rate|increase|absent|histogram_quantile)$/;

describe('the alert rules', () => {
  it('name metrics that a worker exports', () => {
    for (const { of, expr } of alertExpressions()) {
      const names = selectorsOf(expr).map((selector) => selector.replace(/\{.*/, ''));
      expect([of, names.length]).not.toEqual([of, 0]);
      expect([of, names.filter((name) => !exported().has(name))]).toEqual([of, []]);
    }
  });

  it('have a section in runbooks.md each, in their order, and no other', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'runbooks.md'), 'utf8');
    const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(readAlerts().map(({ alert }) => alert));
    for (const { alert, annotations } of readAlerts())
      expect(annotations.runbook).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
  });

  it('watch counters that have a series before their first event', async () => {
    const watched = alertExpressions().flatMap(({ expr }) =>
      [...expr.matchAll(/increase\((everthread_\w+)(?:\{(\w+)="(\w+)"\})?\[/g)].map(
        ([, name = '', label, value]) => ({ name, labels: label && value ? { [label]: value } : {} }),
      ),
    );
    expect(watched.length).toBeGreaterThanOrEqual(6);
    for (const name of ['everthread_model_retries_total', 'everthread_model_waits_total'])
      watched.push({ name, labels: { model: 'scripted' } });
    for (const { name, labels } of watched)
      expect([name, labels, scraped.value(name, labels)]).toEqual([name, labels, expect.any(Number)]);
  });
});

describe('the dashboards', () => {
  it('name metrics that a worker exports', () => {
    for (const { of, expr } of dashboardExpressions()) {
      const names = selectorsOf(expr).map((selector) => selector.replace(/\{.*/, ''));
      expect([of, names.length]).not.toEqual([of, 0]);
      expect([of, names.filter((name) => !exported().has(name))]).toEqual([of, []]);
    }
  });

  it('use no names but those of metrics, labels and functions', () => {
    const known = new Set(scraped.families.flatMap(({ metrics }) => metrics.flatMap(labelsOf)));
    for (const label of ['job', 'instance', 'le', ...UNSEEN_LABELS]) known.add(label);
    for (const { of, expr } of [...dashboardExpressions(), ...alertExpressions()]) {
      const names = [...expr.replace(/"[^"]*"|\[\w+\]/g, '').matchAll(/[a-z]\w*/g)].map(([name]) => name);
      const others = names.filter(
        (name) => !FUNCTIONS.test(name) && !exported().has(name) && !known.has(name),
      );
      expect([of, others]).toEqual([of, []]);
    }
  });

  it('have panels that do not overlap, with ids of their own', () => {
    const dashboards = readDashboards();
    expect(dashboards.map(({ uid }) => uid)).toEqual(['everthread-agents', 'everthread-engine']);
    for (const { panels } of dashboards) {
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      const taken = new Set<string>();
      for (const { title, gridPos } of panels)
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            expect([title, x, y, x < 24 && !taken.has(`${x} ${y}`)]).toEqual([title, x, y, true]);
            taken.add(`${x} ${y}`);
          }
    }
  });
});

/** Labels of histograms, which the parser leaves out, and of repeated steps, which are not here. */
const UNSEEN_LABELS = ['model', 'tool', 'store', 'reason'];

function labelsOf({ labels = {} }: { readonly labels?: Readonly<Record<string, string>> }): string[] {
  return Object.keys(labels);
}
