/**
 * The coordinator, the reviewer, researchers and skeptics without a model: each a function of the request alone, as in
 * `_script.ts`. The prompt shows which of them is asked.
 */
import { calls, callsMany, type RecordedRequest, type ScriptStep } from 'everthread/testing';
import { bestFile, chooseQuotations, findTopic, readHits, readNumbered } from './_reading.ts';
import { speak } from './_speech.ts';
import { type Messages, readToolUses, textOf } from './_turn.ts';

type Role = (messages: Messages) => ScriptStep;

const ROLES: readonly (readonly [RegExp, Role])[] = [
  [/^You coordinate research/, coordinate],
  [/^You review briefs/, review],
  [/^You are a researcher/, research],
  [/^You are a skeptic/, question],
];

/** Undefined for a request of another agent. */
export function followResearch({ messages }: RecordedRequest): ScriptStep | undefined {
  const prompt = textOf(messages.find(({ role }) => role === 'system'));
  const role = ROLES.find(([pattern]) => pattern.test(prompt))?.[1];
  return role?.(messages.filter((message) => message.role !== 'system'));
}

const REPORT = /^Subagent \(reference: ([^)]+)\)[^\n]*\n\n([\s\S]*)/;
const NAMES = ['Ana', 'Ben', 'Cleo'];

function coordinate(messages: Messages): ScriptStep {
  const told = messages.filter(({ role }) => role === 'user').map(textOf);
  const uses = readToolUses(messages);
  const sent = uses.filter(({ name }) => name === 'subagent_create' || name === 'subagent_message');
  const made = uses.filter(({ name }) => name === 'subagent_create').map(({ content }) => content);
  const reports = readReports(told, made);
  if (sent.length === 0) return sendOut(told[0] ?? '');
  if (reports.length < sent.length) return calls('await_reports');
  const drafts = uses.filter(({ name }) => name === 'submit_draft').length;
  const wish = told.at(-1) ?? '';
  // The reviewer's message is the newest one that is not a report.
  if (drafts > 0 && !REPORT.test(wish) && wish !== told[0]) {
    return askBack(wish, reports[0]?.reference ?? '');
  }
  return calls('submit_draft', { draft: toBrief(reports.map(({ text }) => text)) });
}

/** In the order in which the researchers were sent out, whoever has reported first. */
function readReports(told: readonly string[], made: readonly string[]) {
  const reports = told.flatMap((whole) => {
    const [, reference, text] = REPORT.exec(whole) ?? [];
    return reference !== undefined && text !== undefined ? [{ reference, text }] : [];
  });
  const place = (reference: string) => made.findIndex((content) => content.includes(reference));
  return reports.toSorted((a, b) => place(a.reference) - place(b.reference));
}

function sendOut(asked: string): ScriptStep {
  const questions = (asked.match(/[^?]+\?/g) ?? [asked]).slice(0, NAMES.length);
  const researchers = questions.map((message, index) => ({
    name: 'subagent_create',
    args: { agent: 'researcher', name: NAMES[index], message: message.trim(), attachments: [] },
  }));
  return callsMany([...researchers, { name: 'await_reports' }]);
}

function askBack(message: string, referenceId: string): ScriptStep {
  return callsMany([
    { name: 'subagent_message', args: { referenceId, message, attachments: [] } },
    { name: 'await_reports' },
  ]);
}

function toBrief(findings: readonly string[]): string {
  const rows = findings.map((text, index) => `${index + 1}. ${text.split('\n\nAttachments:')[0]}`);
  return `Brief\n\n${rows.join('\n')}`;
}

/** Sees its own messages as the assistant's, the coordinator's drafts as the user's. */
function review(messages: Messages): ScriptStep {
  const draft = textOf(messages.findLast(({ role }) => role === 'user'));
  const wishes = readToolUses(messages).filter(({ name }) => name === 'request_changes');
  if (wishes.length > 0) return calls('approve_brief', { brief: draft });
  return calls('request_changes', { changes: 'Who decides when a case is not covered by these lines?' });
}

function research(messages: Messages): ScriptStep {
  const start = messages.findLastIndex((message) => message.role === 'user' && !isSkeptic(message));
  const task = textOf(messages[start]);
  const current = messages.slice(start + 1);
  const uses = readToolUses(current);
  const hits = uses.find(({ name }) => name === 'search_texts')?.content;
  const text = uses.find(({ name }) => name === 'read_text');
  if (hits === undefined) return calls('search_texts', { query: findTopic(task), limit: 12 });
  const file = bestFile(readHits(hits));
  if (file === undefined) return handIn(task, 'The handbook does not say.');
  if (text === undefined) return calls('read_text', { file });
  const found = quote(file, chooseQuotations(readHits(hits), readNumbered(file, text.content), 2));
  return current.some(isSkeptic) ? handIn(task, found) : speak(`I have found this. ${found}`, 2);
}

function quote(file: string, quotations: ReturnType<typeof chooseQuotations>): string {
  const rows = quotations.map((each) => `"${each.text}" (${each.file}:${each.line})`);
  return rows.length === 0 ? `Nothing in ${file} decides it.` : rows.join('; ');
}

function handIn(task: string, findings: string): ScriptStep {
  const name = findTopic(task).split(' ').slice(0, 3).join('-') || 'notes';
  return calls('hand_in', { findings, notes: `/attachments/${name.replace(/[^\w-]/g, '')}.md` });
}

function question(): ScriptStep {
  return speak('Skeptic: is that the line that decides it, or only the one that sounds like it?');
}

function isSkeptic(message: Messages[number]): boolean {
  return message.role === 'user' && textOf(message).startsWith('Skeptic:');
}
