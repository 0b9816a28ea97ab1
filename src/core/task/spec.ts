/**
 * The spec of a task: an intent, its inputs, its required knowledge and its budget. Checked by hand: the check runs
 * inside the workflow, and plain `temporal` commands may write a spec.
 */
import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import type { KnowledgeRequirement } from './knowledge.ts';
import { parseRequirement } from './requirement.ts';

/** Each limit is optional; the defaults are 8 steps, five minutes and no limit of cost. */
export interface TaskBudget {
  /** How often the task may act or ask. */
  readonly maxSteps?: number;
  /** Milliseconds of work; time spent waiting for people or threads does not count. */
  readonly maxWallMs?: number;
  /** US dollars, as reported by `getActionCostUsd`. */
  readonly maxCostUsd?: number;
}

export interface AgentTaskSpec {
  readonly id: string;
  /**
   * A label of the operation, such as `triage-ticket`. Shown, logged and traced as it is: text of users belongs in
   * `inputs`.
   */
  readonly intent: string;
  readonly domain?: string;
  /** JSON. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly requiredKnowledge?: readonly KnowledgeRequirement[];
  readonly budget?: TaskBudget;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const TASK_BUDGET = { maxSteps: 8, maxWallMs: 5 * 60_000 } as const;

/** The limits that the loop applies, defaults included. */
export interface TaskLimits {
  readonly maxSteps: number;
  readonly maxWallMs: number;
  readonly maxCostUsd: number | null;
}

export function toLimits({ maxSteps, maxWallMs, maxCostUsd }: TaskBudget = {}): TaskLimits {
  return {
    maxSteps: maxSteps ?? TASK_BUDGET.maxSteps,
    maxWallMs: Math.min(maxWallMs ?? TASK_BUDGET.maxWallMs, MAX_WALL_MS),
    maxCostUsd: maxCostUsd ?? null,
  };
}

/** Ten years: keeps timers within what the server accepts. */
const MAX_WALL_MS = 10 * 365 * 24 * 3_600_000;

const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const LABEL_CHARS = 200;
/** The largest `maxSteps` that a budget may have. */
const MAX_STEPS = 1_000_000;

/** Letters, digits and `. _ : -`, as in a thread's id. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LIMITS.threadIdChars && TASK_ID.test(value);
}

export type ParsedSpec =
  | { readonly ok: true; readonly spec: AgentTaskSpec }
  | { readonly ok: false; readonly reason: string };

/** Fields that are null are taken as absent. */
export function parseTaskSpec(given: unknown): ParsedSpec {
  if (!isRecord(given)) return refuse('a task must be an object such as {"id":"t1","intent":"triage"}');
  const { id, intent, domain, inputs, requiredKnowledge, budget, metadata } = given;
  if (!isTaskId(id))
    return refuse(
      `"id" must consist only of letters, digits and . _ : -, at most ${LIMITS.threadIdChars} characters`,
    );
  if (!isLabel(intent)) return refuse(`"intent" must be a string of 1 to ${LABEL_CHARS} characters`);
  if (domain != null && !isLabel(domain))
    return refuse(`"domain" must be a string of 1 to ${LABEL_CHARS} characters`);
  if (measureJson(given, { maxDepth: LIMITS.jsonDepth }).depth > LIMITS.jsonDepth)
    return refuse(`it is nested deeper than ${LIMITS.jsonDepth} levels`);
  if (inputs != null && !isRecord(inputs)) return refuse('"inputs" must be an object');
  if (metadata != null && !isRecord(metadata)) return refuse('"metadata" must be an object');
  const knowledge = parseKnowledge(requiredKnowledge ?? []);
  if (typeof knowledge === 'string') return refuse(knowledge);
  const limits = parseBudget(budget ?? {});
  if (typeof limits === 'string') return refuse(limits);
  return {
    ok: true,
    spec: {
      id,
      intent,
      ...(domain == null ? {} : { domain }),
      ...(inputs == null ? {} : { inputs }),
      ...(knowledge.length > 0 ? { requiredKnowledge: knowledge } : {}),
      ...(Object.keys(limits).length > 0 ? { budget: limits } : {}),
      ...(metadata == null ? {} : { metadata }),
    },
  };
}

function refuse(reason: string): ParsedSpec {
  return { ok: false, reason };
}

function isLabel(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= LABEL_CHARS;
}

function parseKnowledge(given: unknown): readonly KnowledgeRequirement[] | string {
  if (!Array.isArray(given)) return '"requiredKnowledge" must be an array';
  const parsed: KnowledgeRequirement[] = [];
  for (const [index, each] of given.entries()) {
    const requirement = parseRequirement(each);
    if (typeof requirement === 'string') return `requiredKnowledge[${index}]: ${requirement}`;
    if (parsed.some(({ id }) => id === requirement.id))
      return `requiredKnowledge[${index}]: "${requirement.id}" is duplicated`;
    parsed.push(requirement);
  }
  return parsed;
}

const BUDGET_FIELDS = ['maxSteps', 'maxWallMs', 'maxCostUsd'] as const;

export function parseBudget(given: unknown): TaskBudget | string {
  if (!isRecord(given)) return '"budget" must be an object';
  const unknown = Object.keys(given).find((field) => !BUDGET_FIELDS.some((each) => each === field));
  if (unknown !== undefined) return `"budget" has an unknown field "${unknown}"`;
  const { maxSteps, maxWallMs, maxCostUsd } = given;
  if (maxSteps != null && !isWhole(maxSteps, MAX_STEPS))
    return '"budget.maxSteps" must be a whole number, 0 or more';
  if (maxWallMs != null && !isWhole(maxWallMs, Number.MAX_SAFE_INTEGER))
    return '"budget.maxWallMs" must be a whole number of milliseconds, 0 or more';
  if (
    maxCostUsd != null &&
    !(typeof maxCostUsd === 'number' && Number.isFinite(maxCostUsd) && maxCostUsd >= 0)
  )
    return '"budget.maxCostUsd" must be a number, 0 or more';
  return Object.fromEntries(
    Object.entries({ maxSteps, maxWallMs, maxCostUsd }).filter(([, value]) => value != null),
  );
}

function isWhole(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most;
}
