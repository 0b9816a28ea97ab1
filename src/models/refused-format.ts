/**
 * Providers that refuse a format of the answer beside tools refuse every request of an agent that has both. They are asked apart:
 * with the tools, the format is described in words; with the format, there are no tools. Pure.
 */
import type { ProviderError, ProviderRequest } from '../core/message/provider.ts';
import { withoutTools } from './refused-tool.ts';

const FORMAT = /json.?mode|response.?(?:format|mime.?type|schema)|structured.?outputs?|json.?schema/i;
const TOOLS = /\btools?\b|function.?call/i;
/** What says that it is the two together that are refused. */
const TOGETHER =
  /combin|together|unsupported|not supported|incompatib|same time|simultaneous|mutually|alongside|cannot be used|both/i;

/** True if the request was refused because it has both. */
export function refusesFormat(
  { statusCode, code, message }: ProviderError,
  { tools = [], responseFormat }: Pick<ProviderRequest, 'tools' | 'responseFormat'>,
): boolean {
  const isRefusal = statusCode === 400 || statusCode === 422 || (!statusCode && code === 'invalid_request');
  if (!isRefusal || tools.length === 0 || responseFormat === undefined) return false;
  return [FORMAT, TOOLS, TOGETHER].every((pattern) => pattern.test(message));
}

/** The part of the request that is sent. `words`: what describes the format to a model that is not bound to it. */
export function askApart(
  request: ProviderRequest,
  { words, isLast }: { readonly words: string; readonly isLast: boolean },
): ProviderRequest {
  const { tools = [], responseFormat, ...rest } = request;
  if (tools.length === 0 || responseFormat === undefined) return request;
  if (isLast) return withoutTools(request, new Set(tools.map((tool) => tool.function.name)));
  const [first, ...others] = request.messages;
  const messages =
    first?.role === 'system'
      ? [{ ...first, content: `${first.content}\n\n${words}` }, ...others]
      : [{ role: 'system' as const, content: words }, ...request.messages];
  return { ...rest, tools, messages };
}
