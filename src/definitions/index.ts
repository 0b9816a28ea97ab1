/**
 * What other layers may import from the definitions; authors import the same from the package's entry. The folder:
 *
 *   writing     `define-*` turn an `*-input` into a definition; `check` and `field` validate it, `definition-mark`
 *               marks the result, `problem` has the types of validation errors
 *   schemas     `author-schema` reads zod by shape, `tool-schema` describes arguments to models
 *   loading     `load-project` uses `project-file` (finds the files), `module-loader` and `running-package` (evaluate
 *               them), `discovery` (reads their definitions) and `load-failure` (describes failures)
 *   resolving   `registry` combines definitions: `name-owner` finds conflicts of names, `*-reference` and `scope` check
 *               references (`tool-entry`, `suggestion`); `registry-from` does so for definitions made in code
 *   prices      `known-price` finds those of a model: its definition's, or those of a list
 *   built in    `built-in-tool`, `run-code-tool`, `code-tool-result`, `status-query-tool`; `memory-hook`, which a
 *               project may list; `made-tools` with `mcp-tool`, `a2a-tool` and `task-tool`, which generate tools
 */

export type {
  AgentInput,
  AgentInputFields,
  AiHumanAgentInput,
  DualAiAgentInput,
  SessionToolInput,
  SideInput,
} from './agent-input.ts';
export type { BudgetInput } from './budget-input.ts';
export { ownToolNames } from './built-in-tool.ts';
export type { A2aAgentInput } from './define-a2a-agent.ts';
export { defineA2aAgent } from './define-a2a-agent.ts';
export { defineAgent } from './define-agent.ts';
export type { EffectInput, ExecuteEffect } from './define-effect.ts';
export { defineEffect } from './define-effect.ts';
export { defineThreadEndpoint } from './define-endpoint.ts';
export type { HookInput } from './define-hook.ts';
export { defineHook } from './define-hook.ts';
export type { ManifestInput } from './define-manifest.ts';
export { defineManifest } from './define-manifest.ts';
export type {
  McpAddressInput,
  McpProgramInput,
  McpServerInput,
  McpServerTerms,
} from './define-mcp-server.ts';
export { defineMcpServer } from './define-mcp-server.ts';
export { defineModel } from './define-model.ts';
export type { PolicyDefinitionInput } from './define-policy.ts';
export { definePolicy } from './define-policy.ts';
export { definePrompt } from './define-prompt.ts';
export type { TaskInput } from './define-task.ts';
export { defineTask } from './define-task.ts';
export { defineTool } from './define-tool.ts';
export type { Definition, DefinitionKind } from './definition-mark.ts';
export { DEFINITION, isDefinition } from './definition-mark.ts';
export type {
  AgentGuardsInput,
  CompactionGuardInput,
  FailureGuardInput,
  GuardsInput,
  LoopGuardInput,
  RoundGuardInput,
  TeamGuardInput,
} from './guards-input.ts';
export { pricesOf } from './known-price.ts';
export type { LoadedProject } from './load-project.ts';
export { loadProject, readAgentNames, requireProject, requireSound } from './load-project.ts';
export { resolveSubject } from './manifest-content.ts';
export { type MemoryHookInput, memoryHook } from './memory-hook.ts';
export type { ModelCapabilitiesInput, ModelInput, ModelTimeoutsInput } from './model-input.ts';
export type { LoaderOptions } from './module-loader.ts';
export { createModuleLoader } from './module-loader.ts';
export type { SourcedDefinition } from './name-owner.ts';
export type { PolicyInput, PolicyObjectInput, PolicyRulesInput } from './policy-input.ts';
export type { FieldProblem, Problem } from './problem.ts';
export { DefinitionError, formatProblems, isDefinitionError } from './problem.ts';
export type {
  PromptInput,
  PromptPartInput,
  PromptToolInput,
  ReasoningInput,
  ResumableInput,
  SubagentInput,
  SubpromptInput,
  ToolEntryInput,
} from './prompt-input.ts';
export type { BuiltRegistry } from './registry.ts';
export { buildRegistry } from './registry.ts';
export type { RegistryInput } from './registry-from.ts';
export { registryFrom } from './registry-from.ts';
export { didYouMean } from './suggestion.ts';
export type {
  Confirm,
  DefinedTool,
  ExecuteTool,
  ParsedArguments,
  PrepareAction,
  ToolArguments,
  ToolInput,
} from './tool-input.ts';
export type { JsonSchema } from './tool-schema.ts';
export { toParameters } from './tool-schema.ts';
export type { VariableInput } from './variable-input.ts';
