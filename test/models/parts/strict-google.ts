/**
 * Gemini 3 with its rule on thought signatures: in the running turn, the first call of each answer comes with its own
 * signature, or with the documented placeholder; a signature that comes with something else is refused.
 */
import { type StrictServer, serveStrictly } from './strict-server.ts';

export interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: object };
  readonly functionResponse?: object;
  readonly thoughtSignature?: string;
}

export interface GoogleBody {
  readonly contents: readonly { readonly role: string; readonly parts: readonly Part[] }[];
}

const PLACEHOLDER = 'skip_thought_signature_validator';

export async function strictGoogle(answers: readonly (readonly Part[])[]): Promise<StrictServer<GoogleBody>> {
  const left = [...answers];
  const known = answers.flat();
  return serveStrictly<GoogleBody>(
    (body) => refuse(body, known) ?? { events: toEvents(left.shift() ?? [{ text: 'Done.' }]) },
    (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  );
}

function refuse({ contents }: GoogleBody, known: readonly Part[]): string | undefined {
  const start = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && !parts.some((part) => part.functionResponse),
  );
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== 'model') continue;
    const call = parts.find((part) => part.functionCall);
    if (at > start && call && !call.thoughtSignature)
      return `Function call is missing a thought_signature in functionCall parts: \`${call.functionCall?.name}\`, position ${at}.`;
    if (!parts.every((part) => isOwn(part, known))) return `Thought signature is not valid, position ${at}.`;
  }
  return undefined;
}

function isOwn({ thoughtSignature, functionCall, text }: Part, known: readonly Part[]): boolean {
  if (thoughtSignature === undefined || thoughtSignature === PLACEHOLDER) return true;
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  return known.some(
    (part) =>
      part.thoughtSignature === thoughtSignature &&
      part.text === text &&
      part.functionCall?.name === functionCall?.name &&
      same(part.functionCall?.args, functionCall?.args),
  );
}

function toEvents(parts: readonly Part[]): object[] {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  const chunk = (part: Part) => ({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] });
  const end = {
    candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
  };
  return [...parts.map(chunk), end];
}
