/** Renders a prompt's parts to the system text (definitions §6.2). Include cycles are refused at load. */
import type { PromptDefinition, PromptPart } from '../author/definition.ts';

export interface PromptScope {
  readonly prompt: PromptDefinition;
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  /** The thread's arguments: `{{key}}` of known keys is replaced, also in included prompts. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Returns what an `env` part shows for a variable: never a secret; the empty text if it has no value. */
  readonly env: (name: string) => string;
}

export function renderPrompt(scope: PromptScope): string {
  return renderParts(scope.prompt.prompt, scope);
}

function renderParts(parts: readonly PromptPart[], scope: PromptScope): string {
  return parts.map((part) => renderPart(part, scope)).join('');
}

function renderPart(part: PromptPart, scope: PromptScope): string {
  switch (part.type) {
    case 'text':
      return interpolate(part.content, scope.variables);
    case 'include': {
      const included = scope.prompts.get(part.prompt);
      return included ? renderParts(included.prompt, scope) : `[prompt "${part.prompt}" is missing]`;
    }
    case 'env':
      return scope.env(part.property);
  }
}

/** Replaces `{{key}}` of known keys; others stay as written (definitions §22.15). */
export function interpolate(text: string, variables: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (placeholder, key: string) => {
    if (!Object.hasOwn(variables, key)) return placeholder;
    const value = variables[key];
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
