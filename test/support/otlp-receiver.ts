/** A receiver of OTLP over HTTP, in this process: keeps the spans that exporters send as JSON. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface OtlpReceiver {
  readonly url: string;
  /** In the order in which they came, repetitions included. */
  readonly spans: readonly OtlpSpan[];
  close(): Promise<void>;
}

/** `answer`: answers a request in place of the receiver. */
export async function receiveOtlp(answer?: (response: ServerResponse) => void): Promise<OtlpReceiver> {
  const spans: OtlpSpan[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (answer) return answer(response);
    for (const { scopeSpans } of JSON.parse(body).resourceSpans)
      for (const { spans: found } of scopeSpans) spans.push(...found);
    response.setHeader('content-type', 'application/json').end('{}');
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Value of an attribute. */
export function attributeOf({ attributes }: OtlpSpan, name: string): unknown {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value && plain(value);
}

function plain({ stringValue, intValue, doubleValue, boolValue, arrayValue }: OtlpValue): unknown {
  if (arrayValue) return arrayValue.values.map(plain);
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue;
}

/** Each span once, by its id. Throws if a repetition differs. */
export function onceEach(spans: readonly OtlpSpan[]): readonly OtlpSpan[] {
  const found = new Map<string, OtlpSpan>();
  for (const span of spans) {
    const before = found.get(span.spanId);
    if (before && JSON.stringify(before) !== JSON.stringify(span))
      throw new Error(`Span ${span.spanId} came twice and differs: ${JSON.stringify([before, span])}`);
    found.set(span.spanId, span);
  }
  return [...found.values()];
}

/** The tree of the spans, a line each, sorted by name below its parent. Throws if a parent is missing. */
export function drawTree(spans: readonly OtlpSpan[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const orphan = spans.find(({ parentSpanId: parent }) => parent && !ids.has(parent));
  if (orphan) throw new Error(`The parent of ${orphan.name} is missing.`);
  const draw = (parent: string, depth: number): string[] =>
    spans
      .filter(({ parentSpanId = '' }) => parentSpanId === parent)
      .map((span) => {
        const error = attributeOf(span, 'error.type');
        const line = `${'  '.repeat(depth)}${span.name}${error ? ` [${error}]` : ''}`;
        return [line, ...draw(span.spanId, depth + 1)];
      })
      .sort((a, b) => (a.join('\n') < b.join('\n') ? -1 : 1))
      .flat();
  return draw('', 0);
}
