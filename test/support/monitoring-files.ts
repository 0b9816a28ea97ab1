/** The alert rules and dashboards of `deploy/`, read as Prometheus and Grafana do. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
export const ALERTS_FILE = join(DEPLOY, 'alerts.yml');

const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

const source = z.strictObject({ type: z.literal('prometheus'), uid: z.literal(`\${datasource}`) });

/** The parts of Grafana's format, schema version 39, that these dashboards use. Strict: Grafana ignores what it does not know. */
const dashboardSchema = z.strictObject({
  uid: z.string().max(40),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.literal(39),
  version: z.int(),
  editable: z.boolean(),
  graphTooltip: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  refresh: z.string(),
  timezone: z.string(),
  templating: z.strictObject({
    list: z.array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('datasource'),
          name: z.string(),
          label: z.string(),
          query: z.literal('prometheus'),
          hide: z.literal(0),
        }),
        z.strictObject({
          type: z.literal('query'),
          name: z.string(),
          label: z.string(),
          datasource: source,
          query: z.string(),
          definition: z.string(),
          includeAll: z.boolean(),
          multi: z.boolean(),
          allValue: z.string(),
          refresh: z.union([z.literal(0), z.literal(1), z.literal(2)]),
          hide: z.literal(0),
          current: z.strictObject({ text: z.string(), value: z.string() }),
        }),
      ]),
    ),
  }),
  annotations: z.strictObject({ list: z.array(z.never()) }),
  panels: z.array(
    z.strictObject({
      id: z.int().positive(),
      type: z.enum(['timeseries', 'stat']),
      title: z.string(),
      description: z.string(),
      datasource: source,
      gridPos: z.strictObject({
        x: z.int().min(0).max(23),
        y: z.int().min(0),
        w: z.int().min(1).max(24),
        h: z.int().min(1),
      }),
      fieldConfig: z.strictObject({
        defaults: z.strictObject({ unit: z.string(), min: z.number() }),
        overrides: z.array(z.never()),
      }),
      options: z.union([
        z.strictObject({
          legend: z.strictObject({
            displayMode: z.literal('list'),
            placement: z.literal('bottom'),
            showLegend: z.boolean(),
          }),
          tooltip: z.strictObject({ mode: z.literal('multi'), sort: z.literal('desc') }),
        }),
        z.strictObject({
          reduceOptions: z.strictObject({
            calcs: z.array(z.string()),
            fields: z.string(),
            values: z.boolean(),
          }),
          colorMode: z.literal('value'),
          graphMode: z.literal('area'),
        }),
      ]),
      targets: z
        .array(
          z.strictObject({
            refId: z.string().regex(/^[A-Z]$/),
            expr: z.string(),
            legendFormat: z.string(),
            range: z.literal(true),
          }),
        )
        .min(1),
    }),
  ),
});

export type AlertRule = z.infer<typeof rulesSchema>['groups'][number]['rules'][number];
export type Dashboard = z.infer<typeof dashboardSchema>;

/** Throws if the file has another shape. */
export function readAlerts(): readonly AlertRule[] {
  return rulesSchema.parse(parse(readFileSync(ALERTS_FILE, 'utf8'))).groups.flatMap(({ rules }) => rules);
}

/** Throws if a file has another shape. */
export function readDashboards(): readonly Dashboard[] {
  return readdirSync(join(DEPLOY, 'dashboards')).map((name) =>
    dashboardSchema.parse(JSON.parse(readFileSync(join(DEPLOY, 'dashboards', name), 'utf8'))),
  );
}

export interface Expression {
  /** The alert, or dashboard and panel. */
  readonly of: string;
  readonly expr: string;
}

export function alertExpressions(): readonly Expression[] {
  return readAlerts().map(({ alert, expr }) => ({ of: alert, expr }));
}

/** Variables have the values that Grafana gives them at a resolution of 15 seconds, and with all jobs. */
export function dashboardExpressions(): readonly Expression[] {
  return readDashboards().flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      panel.targets.map(({ expr }) => ({
        of: `${title}: ${panel.title}`,
        expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*'),
      })),
    ),
  );
}

/** The selectors of an expression, like `a_total{b="c"}`. */
export function selectorsOf(expr: string): readonly string[] {
  return [...expr.matchAll(/\b([a-z]+_[a-z_0-9]+)(\{[^}]*\})?/g)]
    .map(([whole]) => whole)
    .filter((selector) => /^(everthread|nodejs|process)_/.test(selector));
}
