/**
 * The names of OpenTelemetry's conventions for generative AI that spans use: `semantic-conventions-genai` v0.1.0. No
 * other file spells them.
 */

export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  conversation: 'gen_ai.conversation.id',
  compacted: 'gen_ai.conversation.compacted',
  agent: 'gen_ai.agent.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_write.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  /** A name of the conventions for MCP: the call of a server's tool is one span, with names of both. */
  mcpMethod: 'mcp.method.name',
  error: 'error.type',
  session: 'session.id',
  user: 'user.id',
} as const;

/** Everthread's own attributes. */
export const OWN = {
  execution: 'everthread.execution.id',
  step: 'everthread.step',
  attempt: 'everthread.attempt',
  /** US dollars. */
  cost: 'everthread.cost_usd',
  stopReason: 'everthread.stop_reason',
  /** From 1; absent if an execution has one part. */
  part: 'everthread.execution.part',
} as const;

/** Names of the conventions 1.41 that changed since: added with `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup`. */
export const FORMER_NAMES: Readonly<Record<string, string>> = {
  [GEN_AI.cacheWrite]: 'gen_ai.usage.cache_creation.input_tokens',
};

/** The convention's names of providers, by the name of the factory or package that reaches them. */
const PROVIDERS: readonly (readonly [part: string, name: string])[] = [
  ['anthropic', 'anthropic'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['gemini', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['deepseek', 'deepseek'],
  ['perplexity', 'perplexity'],
  ['cohere', 'cohere'],
  ['groq', 'groq'],
  ['xai', 'x_ai'],
  ['openai', 'openai'],
];

/** A provider that is not in the convention's list has its own name. */
export function providerName(factory: string): string {
  const lower = factory.toLowerCase();
  return PROVIDERS.find(([part]) => lower.includes(part))?.[1] ?? (lower || 'unknown');
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export function withFormerNames(attributes: SpanAttributes): SpanAttributes {
  const added = Object.entries(FORMER_NAMES).flatMap(([name, former]) => {
    const value = attributes[name];
    return value === undefined ? [] : [[former, value] as const];
  });
  return { ...attributes, ...Object.fromEntries(added) };
}
