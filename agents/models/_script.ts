/**
 * The librarian without a model: what a patient clerk would do, as a function of the request alone. It keeps no state, so
 * any process can answer any request, and the same request again gets the same answer.
 *
 * A turn goes: list the texts, search them with the question's words, read the text with the best lines, quote it. What
 * must be counted is counted by a program instead. A request to publish ends in a call of publish_summary; and when that
 * call's outcome is unknown, the clerk looks at the bulletin before deciding, as the prompt demands.
 */
import { calls, type RecordedRequest, type ScriptStep } from 'everthread/testing';
import { followRefund } from './_cashier.ts';
import { findAnalysis } from './_counting.ts';
import {
  bestFile,
  chooseQuotations,
  findTopic,
  isAboutPublishing,
  type Quotation,
  readHits,
  readNumbered,
} from './_reading.ts';
import { followResearch } from './_research.ts';
import { speak } from './_speech.ts';
import { readTurn, type Turn } from './_turn.ts';

export function followScript(request: RecordedRequest): ScriptStep {
  const step = followResearch(request) ?? followRefund(request);
  if (step) return step;
  const turn = readTurn(request.messages);
  if (turn.followUp !== undefined)
    return speak(`A word on what I was to publish. ${turn.followUp.replace(/^Follow-up: /, '')}`);
  switch (turn.lastTool?.name) {
    case undefined:
      return begin(turn);
    case 'list_texts':
      return calls('search_texts', { query: findTopic(turn.asked), limit: 12 });
    case 'search_texts':
      return chooseText(turn);
    case 'read_text':
      return useText(turn);
    case 'analyze_texts':
      return afterCounting(turn);
    case 'publish_summary':
      return afterPublishing(turn);
    case 'list_published':
      return afterLooking(turn);
    default:
      return speak(`I have the result of ${turn.lastTool?.name} and no use for it.`);
  }
}

/** "Publish that" refers to the last answer; anything but counting begins with listing the texts. */
function begin(turn: Turn): ScriptStep {
  const analysis = findAnalysis(turn.asked);
  if (analysis) return calls('analyze_texts', { source: analysis.source });
  if (!isAboutPublishing(turn.asked) || findTopic(turn.asked) !== '') return calls('list_texts');
  if (turn.lastAnswer !== undefined) return publish(turn.askedBefore, turn.lastAnswer);
  return speak(
    'There is nothing to publish yet. Ask me about the handbook first, or tell me what the entry is about.',
  );
}

function chooseText(turn: Turn): ScriptStep {
  const file = bestFile(readHits(turn.lastTool?.content ?? ''));
  if (file !== undefined) return calls('read_text', { file });
  return speak(
    `The handbook says nothing about "${findTopic(turn.asked)}". It has these texts:\n\n${turn.resultOf('list_texts') ?? ''}`,
  );
}

function useText(turn: Turn): ScriptStep {
  const file = String(turn.lastTool?.args.file);
  const text = readNumbered(file, turn.lastTool?.content ?? '');
  const answer = quote(file, chooseQuotations(readHits(turn.resultOf('search_texts') ?? ''), text));
  return isAboutPublishing(turn.asked) ? publish(turn.asked, answer) : speak(answer);
}

/** The result is the first line; what the program printed comes after it. */
function afterCounting({ asked, lastTool }: Turn): ScriptStep {
  const [result = '', ...printed] = (lastTool?.content ?? '').split('\n');
  if (result.startsWith('Failed'))
    return speak(`The program did not get through. ${[result, ...printed].join('\n')}`);
  const analysis = findAnalysis(asked);
  // A person may have queued a program of their own.
  const isMine = analysis?.source === lastTool?.args.source;
  return speak(analysis && isMine ? analysis.tell(JSON.parse(result)) : `The program answers ${result}.`);
}

function quote(file: string, quotations: readonly Quotation[]): string {
  const rows = quotations.map((each) => `- "${each.text}" (${each.file}:${each.line})`);
  return `The handbook says:\n\n${rows.join('\n')}\n\nMost of it is in ${file}; I can read you what stands around these lines.`;
}

/** An entry is the first two quotations of an answer, under the words of the question. */
function publish(question: string, answer: string): ScriptStep {
  const quotations = [...answer.matchAll(/^- "(.+)" \(/gm)].slice(0, 2).map(([, text]) => text);
  if (quotations.length === 0)
    return speak('My last answer quotes nothing, so there is nothing worth publishing.');
  const title = `From the handbook: ${findTopic(question) || 'what we asked today'}`.slice(0, 80);
  return calls('publish_summary', { title, summary: quotations.join(' ').slice(0, 600) });
}

function afterPublishing({ lastTool }: Turn): ScriptStep {
  const result = lastTool?.content ?? '';
  if (!result.startsWith('Failed')) return speak(`Done. ${result}`);
  if (/unknown|may or may not/.test(result)) return calls('list_published');
  return speak(`It was not published. ${result}`);
}

/** The bulletin decides: an entry that is on it is not published again. */
function afterLooking(turn: Turn): ScriptStep {
  const wanted = turn.argumentsOf('publish_summary');
  if (wanted === undefined) return speak(`On the bulletin:\n\n${turn.lastTool?.content}`);
  const found = turn.lastTool?.content.split('\n').find((row) => row.includes(`${wanted.title}: `));
  if (found === undefined) return calls('publish_summary', wanted);
  return speak(
    'The process that was publishing was lost, and nobody could say whether the entry got out. So I looked: it is on the ' +
      `bulletin, once, and I have not published it again.\n\n${found}`,
  );
}
