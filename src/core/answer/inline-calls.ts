/**
 * Finds calls that a model has written into its text, as models do that cannot make native tool calls. A call must be
 * in a wrapper made for calls, or be the whole text: a text that merely mentions a tool never runs it.
 *
 *   <tool_code>look({"at": "door"})</tool_code>      also as a fence of that name, named `tool_call`,
 *                                                    in `print(…)`, several in a row
 *   <tool_call>{"name": "look", "arguments": {…}}</tool_call>
 *   look({"at": "door"})                             the whole text
 *
 * - The name of a call must be one that the model was offered; otherwise the call is text.
 * - A call in any other fence, or in backticks, is an example and is not run.
 * - A wrapper that is not closed, or holds anything besides its calls, is text.
 * - The search takes time linear in the length of the text.
 */
import { LIMITS } from '../value/limit.ts';
import { findBracketed } from './json-text.ts';
import { readArguments } from './repair-arguments.ts';

export interface InlineCall {
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly text: string;
}

/** A cheap check before the search: most texts contain nothing that looks like a call. */
export function mayHoldCalls(text: string): boolean {
  return /^\s*[A-Za-z_][\w-]* ?\(|<tool_c(?:ode|all)>|```[ \t]*tool_c/.test(text);
}

export function findInlineCalls(text: string, offered: ReadonlySet<string>): readonly InlineCall[] {
  const whole = text.trim();
  const [only, ...others] = readSequence(whole, offered) ?? [];
  if (only && others.length === 0 && readArguments(only.text)) return [only];
  return findWrapped(whole)
    .flatMap((body) => readBody(body.trim(), offered))
    .slice(0, LIMITS.answerCalls);
}

const OPENER = /```|<tool_code>|<tool_call>/g;
const CALL_FENCE = /^[ \t]*tool_(?:code|call)[ \t]*\n/;

/** Returns the contents of the wrappers, in order. */
function findWrapped(text: string): readonly string[] {
  const bodies: string[] = [];
  // A closer that was not found once is not searched for again.
  const unclosed = new Set<string>();
  OPENER.lastIndex = 0;
  for (let found = OPENER.exec(text); found; found = OPENER.exec(text)) {
    const opener = found[0];
    const isFence = opener === '```';
    const closer = isFence ? '```' : opener.replace('<', '</');
    const from = OPENER.lastIndex;
    if (!isFence && text.charAt(found.index - 1) === '`') continue;
    const to = unclosed.has(closer) ? -1 : text.indexOf(closer, from);
    if (to < 0) {
      // An unclosed fence reaches to the end; any other unclosed wrapper is text.
      if (isFence) break;
      unclosed.add(closer);
      continue;
    }
    const body = text.slice(from, to);
    if (!isFence) bodies.push(body);
    else if (CALL_FENCE.test(body)) bodies.push(body.replace(CALL_FENCE, ''));
    OPENER.lastIndex = to + closer.length;
  }
  return bodies;
}

function readBody(body: string, offered: ReadonlySet<string>): readonly InlineCall[] {
  return (body.startsWith('{') ? readObject(body, offered) : readSequence(body, offered)) ?? [];
}

/** `{"name": …, "arguments": {…}}`. */
function readObject(body: string, offered: ReadonlySet<string>): readonly InlineCall[] | undefined {
  const { name, arguments: given = {} } = readArguments(body)?.value ?? {};
  if (typeof name !== 'string' || !offered.has(name)) return undefined;
  return [{ name, text: typeof given === 'string' ? given : JSON.stringify(given) }];
}

/** Reads a sequence of calls `name(…)` and nothing else; undefined for anything else. */
function readSequence(body: string, offered: ReadonlySet<string>): readonly InlineCall[] | undefined {
  const calls: InlineCall[] = [];
  for (let at = 0; at < body.length; ) {
    const call = readCall(body, at, offered) ?? readPrinted(body, at, offered);
    // One name that was not offered makes the whole body text; so do too many calls.
    if (!call || calls.length === LIMITS.answerCalls) return undefined;
    calls.push({ name: call.name, text: call.text });
    at = skip(body, call.end);
  }
  return calls;
}

const NAME = /[A-Za-z_][\w-]*/y;
const BETWEEN = /[\s;]*/y;

type PlacedCall = InlineCall & { readonly end: number };

function readCall(body: string, from: number, offered: ReadonlySet<string>): PlacedCall | undefined {
  NAME.lastIndex = from;
  const name = NAME.exec(body)?.[0];
  if (name === undefined || !offered.has(name)) return undefined;
  const open = from + name.length + (body.startsWith(' (', from + name.length) ? 1 : 0);
  if (body.charAt(open) !== '(') return undefined;
  const { end } = findBracketed(body, open);
  if (end === undefined || end - open > LIMITS.callArgumentBytes) return undefined;
  return { name, text: body.slice(open + 1, end - 1).trim(), end };
}

const PRINT_OPEN = /print\(\s*/y;
const PRINT_CLOSE = /\s*\)/y;

/** Reads `print(look({…}))`, as models write that treat a call as program code. */
function readPrinted(body: string, from: number, offered: ReadonlySet<string>): PlacedCall | undefined {
  PRINT_OPEN.lastIndex = from;
  const call = PRINT_OPEN.test(body) ? readCall(body, PRINT_OPEN.lastIndex, offered) : undefined;
  if (!call) return undefined;
  PRINT_CLOSE.lastIndex = call.end;
  return PRINT_CLOSE.test(body) ? { ...call, end: PRINT_CLOSE.lastIndex } : undefined;
}

function skip(body: string, from: number): number {
  BETWEEN.lastIndex = from;
  BETWEEN.exec(body);
  return BETWEEN.lastIndex;
}
