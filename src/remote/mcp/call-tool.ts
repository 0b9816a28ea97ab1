/** Calls one tool of a server. An error answer becomes an error result; a violation of protocol or limits is thrown. */

import type { InputRequiredResult } from '@modelcontextprotocol/client';
import type { ToolAttachment, ToolResult } from '../../core/message/message.ts';
import { measureJson } from '../../core/value/json-measure.ts';
import { toResultText } from '../../core/value/result-text.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { activeTraceparent } from '../../traceparent.ts';
import { quote, visibleIn } from '../wall/index.ts';
import type { AskTerms, McpConnection } from './connection.ts';
import { isAnswered, McpFailure } from './failure.ts';
import { MCP_LIMITS, SCHEMA_BOUND } from './limit.ts';

export interface McpCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Answers to the server's earlier questions; `state` is the value that the server gave to be returned with them. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly state?: string;
}

export type McpAnswer =
  | { readonly kind: 'result'; readonly result: ToolResult }
  | { readonly kind: 'asks'; readonly asks: McpAsks };

/** Questions that the server wants answered before it continues, by the server's names for them. */
export interface McpAsks {
  readonly requests: Readonly<Record<string, McpQuestion>>;
  readonly state?: string;
}

export interface McpQuestion {
  readonly message: string;
  /** JSON schema of the answer. */
  readonly schema: unknown;
}

/** Rejects with an McpFailure, or with the signal's reason. */
export async function callTool(
  connection: McpConnection,
  { name, arguments: given, answers, state }: McpCall,
  terms: AskTerms,
): Promise<McpAnswer> {
  const traceparent = activeTraceparent();
  const params = {
    name,
    arguments: { ...given },
    ...(traceparent && { _meta: { traceparent } }),
    ...(answers && { inputResponses: answers }),
    ...(state === undefined ? {} : { requestState: state }),
  };
  try {
    const answer: unknown = await connection.ask(
      (client, options) => client.callTool(params, { ...options, allowInputRequired: true }),
      terms,
    );
    if (isInputRequired(answer)) return { kind: 'asks', asks: toAsks(answer) };
    const raw = answer as RawToolResult;
    const lacks =
      connection.listed.structured.has(name) && raw.structuredContent === undefined && !raw.isError;
    return { kind: 'result', result: toResult(raw, lacks ? LACKS_OUTPUT : '') };
  } catch (error) {
    if (!isAnswered(error)) throw error;
    return { kind: 'result', result: toRefusalResult(name, quote(errorMessage(error), 2000), error.code) };
  }
}

function isInputRequired(answer: unknown): answer is InputRequiredResult {
  return (answer as { resultType?: unknown } | null)?.resultType === 'input_required';
}

/** The call has run: were it an error, the model would run it again. */
const LACKS_OUTPUT = '\n(The structured output that the tool declares is missing.)';

/** JSON-RPC error codes with which servers report an unknown tool. */
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;

function toRefusalResult(name: string, refused: string, number: number): ToolResult {
  const missing =
    number === METHOD_NOT_FOUND || (number === INVALID_PARAMS && /not found|unknown tool/i.test(refused));
  if (missing)
    return {
      status: 'error',
      error: `Its server does not have the tool ${name}: ${refused}`,
      error_code: 'McpToolMissing',
    };
  return { status: 'error', error: refused, error_code: 'McpToolError', error_data: { code: number } };
}

function toAsks({ inputRequests = {}, requestState }: InputRequiredResult): McpAsks {
  if (requestState !== undefined && Buffer.byteLength(requestState) > MCP_LIMITS.stateBytes)
    throw new McpFailure(
      'McpTooLarge',
      `The state of its question has more than ${MCP_LIMITS.stateBytes} bytes.`,
    );
  const asked = Object.entries(
    inputRequests as Record<string, { method?: string; params?: Record<string, unknown> }>,
  );
  const requests = asked.map(([name, { method, params = {} }]) => {
    if (method !== 'elicitation/create' || typeof params.message !== 'string' || params.url !== undefined)
      throw new McpFailure(
        'McpInputUnsupported',
        `It asks for ${quote(method, 60)}, which is not supported here.`,
      );
    const { message, requestedSchema = null } = params;
    if (!measureJson(requestedSchema, SCHEMA_BOUND).whole)
      throw new McpFailure('McpTooLarge', 'The form of its question is too large, or too deep.');
    return [name, { message: quote(message, 2000), schema: visibleIn(requestedSchema) }] as const;
  });
  return {
    requests: Object.fromEntries(requests),
    ...(requestState === undefined ? {} : { state: requestState }),
  };
}

interface RawToolResult {
  readonly content?: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly name?: string;
  readonly uri?: string;
  readonly resource?: {
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    readonly blob?: string;
  };
}

/** The server has acted: a result that is too large never makes the call a failure, or it would be made again. */
function toResult({ content = [], structuredContent, isError }: RawToolResult, note: string): ToolResult {
  const files: ToolAttachment[] = [];
  let bytes = 0;
  let left = 0;
  const lines = content.flatMap((block, index) => {
    const file = toFile(block, index);
    if (!file) return [toLine(block)];
    bytes += file.data.length;
    if (files.length < MCP_LIMITS.files && bytes <= MCP_LIMITS.fileBytes) files.push(file);
    else left += 1;
    return [];
  });
  const isData = lines.length === 0 && structuredContent !== undefined;
  const whole = isData ? toResultText(structuredContent).text : lines.join('\n');
  const missing =
    left > 0 ? `\n(${left} of the files of its result were left out: they are too many, or too large.)` : '';
  const text = `${whole}${missing}${note}`;
  if (isError) return { status: 'error', error: text || 'No reason given.', error_code: 'McpToolError' };
  return { status: 'success', result: text, ...(files.length > 0 ? { attachments: files } : {}) };
}

function toFile({ type, data, mimeType, resource }: Block, index: number): ToolAttachment | undefined {
  if ((type === 'image' || type === 'audio') && data !== undefined)
    return { name: `${type}-${index + 1}`, mimeType: mimeType ?? 'application/octet-stream', data };
  if (type !== 'resource' || resource?.blob === undefined) return undefined;
  const name =
    resource.uri
      .split('/')
      .at(-1)
      ?.replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(-80) || `file-${index + 1}`;
  return { name, mimeType: resource.mimeType ?? 'application/octet-stream', data: resource.blob };
}

function toLine({ type, text, name, uri, resource }: Block): string {
  if (text !== undefined) return text;
  if (type === 'resource' && resource?.text !== undefined) return resource.text;
  if (type === 'resource_link') return `${quote(name, 200)}: ${quote(uri, 2000)}`;
  return `[${quote(type, 40)}]`;
}
