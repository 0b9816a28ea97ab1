/**
 * What a project that this package loads gets when it imports `@standardagents/spec` or `@standardagents/builder`: the
 * functions and types of the spec (0.1.0) under its own names. They are those of `everthread` and `everthread/models`.
 */
import { DefinitionError } from './definitions/index.ts';

export { ProviderError } from './core/message/provider.ts';
export {
  defineAgent,
  defineEffect,
  defineHook,
  defineModel,
  definePrompt,
  defineThreadEndpoint,
  defineTool,
} from './definitions/index.ts';

/** Not part of the spec 0.1.0: throws `InvalidDefinitions`, which names the alternative. */
export function defineController(..._given: readonly unknown[]): never {
  const advice = 'an endpoint belongs to a thread: write defineThreadEndpoint, in agents/api';
  throw notInSpec('defineController', advice);
}

/** Not part of the spec 0.1.0: throws `InvalidDefinitions`, which names the alternative. */
export function defineHandler(..._given: readonly unknown[]): never {
  throw notInSpec('defineHandler', 'a side is a prompt: write code as tools, hooks and effects');
}

function notInSpec(name: string, advice: string): DefinitionError {
  return new DefinitionError(name, [{ field: '', message: `is not part of the spec 0.1.0; ${advice}` }]);
}

export type {
  AgentDefinition,
  ModelCapabilities,
  ModelDefinition,
  PromptDefinition,
  PromptPart,
  ReasoningConfig,
} from './core/author/definition.ts';
export type { EffectDefinition } from './core/author/effect.ts';
export type { EndpointDefinition as ThreadEndpointDefinition } from './core/author/endpoint.ts';
export type { HookDefinition } from './core/author/hook.ts';
export type { ToolDefinition } from './core/author/registry.ts';
export type { VariableDefinition } from './core/author/variable-definition.ts';
export type { LLMMessage } from './core/message/llm-message.ts';
export type {
  ContentPart,
  ExecutedProviderTool,
  FinishReason,
  Provider,
  Provider as LLMProviderInterface,
  ProviderErrorCode,
  ProviderFactory,
  ProviderMessage,
  ProviderRequest,
  ProviderResponse,
  ProviderStreamChunk,
  ProviderTool,
  ProviderUsage,
} from './core/message/provider.ts';
export type {
  ProviderFactoryConfig,
  ProviderImage,
  ProviderToolCall,
  ReasoningDetail,
} from './core/message/provider-terms.ts';
export type {
  PromptToolInput as PromptToolConfig,
  SessionToolInput as SessionToolBinding,
  SideInput as SideConfig,
  SubagentInput as SubagentToolConfig,
  SubpromptInput as SubpromptConfig,
} from './definitions/index.ts';
export type * from './index.ts';
