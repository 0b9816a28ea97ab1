/** The texts in which a parent reads about its children: clients recognise them by their beginnings. */
import { describe, expect, it } from '@jest/globals';
import {
  formatReport,
  formatResult,
  REPORT_START,
  statusAfter,
} from '../../src/core/thread/subagent-report.ts';

const CHILD = { threadId: 'c1', agent: 'scout', name: 'Ada' };
const report = (
  kind: 'result' | 'failure' | 'stopped' | 'terminated',
  content = '',
  attachments: string[] = [],
) => ({
  kind,
  content,
  attachments,
});

describe('a subagent report', () => {
  it('names the child, its outcome, and its files', () => {
    const text = formatReport(CHILD, report('result', 'blue', ['/attachments/a.txt', '/attachments/b.txt']));
    expect(text).toBe(
      'Subagent (reference: c1) scout "Ada" has finished:\n\nblue\n\nAttachments:\n/attachments/a.txt\n/attachments/b.txt',
    );
    expect(REPORT_START.exec(text)?.[1]).toBe('c1');
  });

  it('is one line if there is no content', () => {
    expect(formatReport({ ...CHILD, name: null }, report('terminated'))).toBe(
      'Subagent (reference: c1) scout was terminated before it finished.',
    );
  });

  it('as a result: is the content itself, with the reference if the child accepts more messages', () => {
    expect(formatResult(CHILD, report('result', 'blue'), false)).toBe('blue');
    expect(formatResult(CHILD, report('result', 'blue'), true)).toBe('blue\n\nReference: c1');
    expect(formatResult(CHILD, report('failure', 'too dark'), true)).toBe(
      'The subagent has failed: too dark\n\nReference: c1',
    );
    expect(formatResult(CHILD, report('stopped'), false)).toBe(
      'The subagent was stopped before it finished.',
    );
  });

  it('maps to a status of the child', () => {
    expect((['result', 'failure', 'stopped', 'terminated'] as const).map(statusAfter)).toEqual([
      'idle',
      'failed',
      'stopped',
      'terminated',
    ]);
  });
});
