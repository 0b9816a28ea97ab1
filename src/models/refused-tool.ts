/**
 * A provider that refuses one tool refuses the whole request, and so every message of the agent. What the refusal names, by the
 * tool's name or its place in the request, is left out of the next one. Pure.
 */
import type { ProviderError, ProviderRequest } from '../core/message/provider.ts';

/** Gemini counts its declarations within a tool of its own; OpenAI and Anthropic count tools. The first that matches decides. */
const PLACES = [/function_?declarations?\[(\d+)\]/i, /\btools\[(\d+)\]/, /\btools\.(\d+)\./];
const NAMED = /\b(?:function|tool)(?:[_\s]?declaration)?\s+(?:named\s+)?["'`]([\w.-]+)["'`]/gi;
/** What a name alone does not say: that its description is refused, and not a call of it. */
const IS_DESCRIPTION = /schema|parameters|declaration|description/i;

/** Returns the name of the tool that the request was refused for; undefined for any other failure. */
export function findRefusedTool(
  { statusCode, code, message }: ProviderError,
  { tools = [], toolChoice }: Pick<ProviderRequest, 'tools' | 'toolChoice'>,
): string | undefined {
  const isRefusal = statusCode === 400 || statusCode === 422 || (!statusCode && code === 'invalid_request');
  if (!isRefusal) return undefined;
  const place = PLACES.map((pattern) => pattern.exec(message)?.[1]).find((at) => at !== undefined);
  const names = IS_DESCRIPTION.test(message) ? [...message.matchAll(NAMED)].map(([, name]) => name) : [];
  const named = tools.find((tool) => names.includes(tool.function.name)) ?? tools[Number(place)];
  const name = named?.function.name;
  // Without it the choice would name nothing.
  return typeof toolChoice === 'object' && toolChoice.name === name ? undefined : name;
}

export function withoutTools(request: ProviderRequest, names: ReadonlySet<string>): ProviderRequest {
  if (names.size === 0 || !request.tools) return request;
  const tools = request.tools.filter((tool) => !names.has(tool.function.name));
  if (tools.length > 0) return { ...request, tools };
  const { tools: _, toolChoice: _choice, parallelToolCalls: _parallel, ...rest } = request;
  return rest;
}
