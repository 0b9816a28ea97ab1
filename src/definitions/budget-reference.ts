/**
 * Checks that a budget with `maxCost` has the prices of all models that its executions may use, including those of
 * sub-prompts, handoffs and subagents.
 */
import type { AgentDefinition, ModelDefinition, PromptDefinition } from '../core/author/definition.ts';
import type { ModelPrices } from '../core/message/model-price.ts';
import { findCallee } from '../core/project/callee.ts';
import { pricesOf } from './known-price.ts';
import type { FieldProblem } from './problem.ts';
import type { Scope } from './scope.ts';

export function checkBudget(scope: Scope, agent: AgentDefinition): FieldProblem[] {
  if (agent.budget?.maxCost === undefined) return [];
  const unpriced = [...findModels(scope, agent)].filter((model) => !hasBothPrices(pricesOf(model)));
  return unpriced.map(({ name }) => ({
    field: 'budget.maxCost',
    message: `needs prices, and the model '${name}', which it may call, has none: set its inputPrice and outputPrice`,
  }));
}

const hasBothPrices = (prices: ModelPrices | undefined): boolean =>
  prices?.inputPrice !== undefined && prices.outputPrice !== undefined;

/** Returns the models that the agent may use, each once, including fallbacks. */
function findModels(scope: Scope, agent: AgentDefinition): Set<ModelDefinition> {
  const models = new Set<ModelDefinition>();
  const seen = new Set<AgentDefinition | PromptDefinition>();
  const visit = (callee: AgentDefinition | PromptDefinition): void => {
    if (seen.has(callee)) return;
    seen.add(callee);
    if (callee.kind === 'agent') {
      for (const side of [callee.sideA, callee.sideB]) {
        const prompt = side && scope.prompts.get(side.prompt);
        if (prompt) visit(prompt);
      }
      return;
    }
    const primary = scope.models.get(callee.model);
    for (const name of [callee.model, ...(primary?.fallbacks ?? [])]) {
      const model = scope.models.get(name);
      if (model) models.add(model);
    }
    for (const { name } of callee.tools) {
      const called = findCallee(scope, name);
      if (called && called.kind !== 'tool') visit(called);
    }
  };
  visit(agent);
  return models;
}
