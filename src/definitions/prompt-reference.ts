/** Checks what a prompt refers to (definitions §6): its model, included prompts, variables, tools, provider options. */
import type { PromptDefinition } from '../core/author/definition.ts';
import type { Registry } from '../core/author/registry.ts';
import type { FieldProblem } from './problem.ts';
import { checkProviderOptions } from './provider-option.ts';
import { checkName, type Findings, joinFindings, type Scope, toFindings } from './scope.ts';
import { checkToolEntries } from './tool-reference.ts';

export function checkPromptReferences(
  scope: Scope,
  prompt: PromptDefinition,
  secrets: ReadonlyMap<string, string>,
): Findings {
  return joinFindings([
    toFindings(checkName(scope, 'model', 'a model', prompt.model, scope.models.keys())),
    toFindings(checkParts(scope, prompt, secrets)),
    toFindings(checkIncludeCycle(scope, prompt)),
    toFindings(checkOptions(scope, prompt)),
    checkToolEntries(scope, prompt),
  ]);
}

/** Returns each variable that is declared secret, with the definition that declares it. */
export function collectSecrets(registry: Registry): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  const all = [...registry.prompts.values(), ...registry.tools.values(), ...registry.agents.values()];
  for (const { kind, name, variables } of all) {
    for (const variable of variables.filter(({ type }) => type === 'secret')) {
      secrets.set(variable.name, `the ${kind} '${name}'`);
    }
  }
  return secrets;
}

function checkParts(
  scope: Scope,
  prompt: PromptDefinition,
  secrets: ReadonlyMap<string, string>,
): FieldProblem[] {
  return prompt.prompt.flatMap((part, index) => {
    const field = `prompt[${index}]`;
    if (part.type === 'include') {
      return checkName(scope, `${field}.prompt`, 'a prompt', part.prompt, scope.prompts.keys());
    }
    const declaredBy = part.type === 'env' ? secrets.get(part.property) : undefined;
    if (part.type !== 'env' || declaredBy === undefined) return [];
    const message = `would show '${part.property}' to the model, which ${declaredBy} declares as a secret`;
    return [{ field: `${field}.property`, message }];
  });
}

/** A cycle is reported once, at the member whose name comes first. */
function checkIncludeCycle(scope: Scope, prompt: PromptDefinition): FieldProblem[] {
  const cycle = findCycle(scope, prompt.name, [prompt.name]);
  if (cycle === undefined || cycle.toSorted()[0] !== prompt.name) return [];
  return [{ field: 'prompt', message: `includes itself: ${[...cycle, prompt.name].join(' → ')}` }];
}

/** Returns `path`, extended by includes up to the prompt that includes `start` again; undefined if there is none. */
function findCycle(
  scope: Scope,
  start: string,
  path: readonly string[],
  seen = new Set<string>(),
): string[] | undefined {
  for (const part of scope.prompts.get(path.at(-1) ?? '')?.prompt ?? []) {
    if (part.type !== 'include') continue;
    if (part.prompt === start) return [...path];
    if (seen.has(part.prompt)) continue;
    seen.add(part.prompt);
    const found = findCycle(scope, start, [...path, part.prompt], seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks the options as the provider will receive them: those of the prompt override those of the model. */
function checkOptions(scope: Scope, prompt: PromptDefinition): FieldProblem[] {
  const model = scope.models.get(prompt.model);
  if (model === undefined || Object.keys(prompt.providerOptions).length === 0) return [];
  return checkProviderOptions(model.provider, { ...model.providerOptions, ...prompt.providerOptions });
}
