/** `defineTask` (docs/tasks.md): the adapter of a task, and the settings of its loop. */

import { z } from 'zod';
import type { AgentAdapter, KnowledgeProvider, TaskDefinition, TaskSettings } from '../core/author/task.ts';
import type { KnowledgeRequirement } from '../core/task/knowledge.ts';
import { parseRequirement } from '../core/task/requirement.ts';
import { checkFields, type FieldTable, type RawFields } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { count, custom, flag, objectSchema, text } from './field.ts';
import { capabilities } from './policy-field.ts';
import type { FieldProblem } from './problem.ts';
import { checkArguments } from './tool-schema.ts';

const phase = <Phase>(shape: string) =>
  custom<Phase>((value) => typeof value === 'function', `must be a function: ${shape}`);

const score = z.number().min(0).max(1);

export const taskBudget = z.strictObject({
  maxSteps: count.optional(),
  maxWallMs: count.optional(),
  maxCostUsd: z.number().nonnegative().optional(),
});

export const knowledgeProvider = z.strictObject({
  buildReadiness: phase<NonNullable<KnowledgeProvider['buildReadiness']>>('({ task }) => […]').optional(),
  answerQuestions: phase<NonNullable<KnowledgeProvider['answerQuestions']>>(
    '({ task, questions }) => ({ … })',
  ).optional(),
  executeAcquisitionPlans: phase<NonNullable<KnowledgeProvider['executeAcquisitionPlans']>>(
    '({ task, plans }) => ({ … })',
  ).optional(),
  refreshReadiness: phase<NonNullable<KnowledgeProvider['refreshReadiness']>>(
    '({ task, answers, evidence }) => […]',
  ).optional(),
});

const settings = {
  toolDescription: text.optional(),
  requiredSchema: objectSchema.optional(),
  agent: text.optional(),
  capabilities: capabilities.optional(),
  idempotent: flag.optional(),
  timeoutMs: count.optional(),
  onActError: z.enum(['continue', 'stop']).optional(),
  asks: flag.optional(),
  waitTimeoutMs: count.optional(),
  guards: z
    .strictObject({ maxNoProgressSteps: count.optional(), maxRepeatedActions: count.optional() })
    .optional(),
  minimumReadinessScore: score.optional(),
  budget: taskBudget.optional(),
  requiredKnowledge: z.array(z.unknown()).optional(),
  knowledge: knowledgeProvider.optional(),
};

const task = z.strictObject({
  observe: phase<AgentAdapter['observe']>('({ task, history }) => state'),
  validate: phase<NonNullable<AgentAdapter['validate']>>('({ state }) => [evals]').optional(),
  decide: phase<AgentAdapter['decide']>('({ state, evals }) => a decision'),
  act: phase<NonNullable<AgentAdapter['act']>>('(action, context) => a result').optional(),
  shouldStop: phase<NonNullable<AgentAdapter['shouldStop']>>(
    '(context) => ({ stop, pass, reason })',
  ).optional(),
  onKnowledgeBlocked: phase<NonNullable<AgentAdapter['onKnowledgeBlocked']>>(
    '({ knowledge, questions }) => a decision',
  ).optional(),
  getActionCostUsd: phase<NonNullable<AgentAdapter['getActionCostUsd']>>(
    '({ action, result }) => a number',
  ).optional(),
  projectRunRecords: phase<NonNullable<AgentAdapter['projectRunRecords']>>(
    '(control, task) => [records]',
  ).optional(),
  prepareAction: phase<NonNullable<AgentAdapter['prepareAction']>>(
    '(action, context) => ({ description })',
  ).optional(),
  ...settings,
});

const TASK: FieldTable<typeof task, TaskInput> = {
  what: 'defineTask',
  fields: task,
  rules: [],
  warnings: [],
  hints: {
    name: "a task's name is the name of its file",
    id: 'the id belongs to each task that is started',
    intent: 'the intent belongs to each task that is started',
    execute: 'write act',
    inputs: 'write requiredSchema',
    description: 'write toolDescription',
    rubric: 'a rubric belongs in a manifest: agents/manifests',
  },
  more: (fields) => [...badKnowledge(fields), ...checkArguments(fields.requiredSchema, 'requiredSchema')],
};

export function badKnowledge({ requiredKnowledge }: RawFields): readonly FieldProblem[] {
  if (!Array.isArray(requiredKnowledge)) return [];
  return requiredKnowledge.flatMap((each, index) => {
    const parsed = parseRequirement(each);
    return typeof parsed === 'string' ? [{ field: `requiredKnowledge[${index}]`, message: parsed }] : [];
  });
}

export function readKnowledge(given: readonly unknown[] = []): readonly KnowledgeRequirement[] {
  return given.map((each) => parseRequirement(each) as KnowledgeRequirement);
}

/**
 * Defines a task; the default export of a file in `agents/tasks/`, whose name is the task's name. Each task that is
 * started from it repeats observe, validate, decide and act until it is done. Throws an `InvalidDefinitions` error that
 * lists every problem.
 * @example
 * ```ts
 * export default defineTask({
 *   observe: ({ history }) => ({ count: history.length }),
 *   validate: ({ state }) => [{ id: 'counted', passed: state.count > 0, score: state.count > 0 ? 1 : 0 }],
 *   decide: () => ({ kind: 'act', action: { add: 1 } }),
 *   act: ({ add }) => ({ added: add }),
 * });
 * ```
 */
export function defineTask<State = unknown, Action = unknown>(
  input: TaskInput<State, Action>,
): TaskDefinition {
  const { fields, warnings } = checkFields(TASK, input);
  const { requiredKnowledge, observe, validate, decide, act, shouldStop, onKnowledgeBlocked, ...rest } =
    fields;
  const { getActionCostUsd, projectRunRecords, prepareAction, ...own } = rest;
  const adapter: AgentAdapter = {
    observe,
    decide,
    ...(validate && { validate }),
    ...(act && { act }),
    ...(shouldStop && { shouldStop }),
    ...(onKnowledgeBlocked && { onKnowledgeBlocked }),
    ...(getActionCostUsd && { getActionCostUsd }),
    ...(projectRunRecords && { projectRunRecords }),
    ...(prepareAction && { prepareAction }),
  };
  const knowledge = requiredKnowledge ? { requiredKnowledge: readKnowledge(requiredKnowledge) } : {};
  // Discovery names it after its file: `nameDefinition`.
  return markDefinition<TaskDefinition>({ ...own, ...knowledge, adapter, kind: 'task', name: '' }, warnings);
}

/**
 * What authors pass to `defineTask`: the adapter's functions and settings.
 */
export interface TaskInput<State = unknown, Action = unknown>
  extends AgentAdapter<State, Action>,
    TaskSettings {}
