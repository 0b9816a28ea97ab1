/** The log over HTTP: pages, server-sent events and lines of JSON, with the same rows under the same cursors. */
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { readStream, type Told } from '../support/read-stream.ts';
import { testRuntime } from '../support/runtime.ts';

const rowsOf = (told: readonly Told[]) =>
  told.filter(({ event }) => event === 'message').map(({ data }) => data);

describe('/v1/threads/{threadId}/events', () => {
  it('returns the rows of the client as pages, as a stream and as lines, from any cursor', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime);
    const thread = await runtime.start('hi');
    const rows = [];
    for await (const row of runtime.client.events(thread, { follow: false })) rows.push(row);
    const path = `/v1/threads/${thread}/events`;
    const page = await api.call('GET', `${path}?limit=3`);
    expect(page.body).toEqual({ events: rows.slice(0, 3), cursor: String(rows[2]?.seq), more: true });
    const rest = await api.call('GET', `${path}?limit=1000&after=${page.body.cursor}`);
    expect(rest.body).toEqual({ events: rows.slice(3), cursor: String(rows.at(-1)?.seq), more: false });
    for (const format of ['sse', 'ndjson'] as const) {
      const told = await readStream(api.url + path, { format, until: ({ event }) => event === 'caught-up' });
      expect(told[0]).toMatchObject({ event: 'begin', id: '0' });
      expect(rowsOf(told)).toEqual(rows);
      expect(told.at(-1)).toMatchObject({ event: 'caught-up', id: String(rows.at(-1)?.seq) });
    }
    // The header overrides the query, in every form.
    const header = { 'last-event-id': String(rows[2]?.seq) };
    for (const format of ['sse', 'ndjson'] as const) {
      const until = ({ event }: Told) => event === 'caught-up';
      const told = await readStream(`${api.url}${path}?after=0`, { format, headers: header, until });
      expect(rowsOf(told)).toEqual(rows.slice(3));
    }
    const resumed = await api.call('GET', `${path}?limit=1000&after=0`, undefined, header);
    expect(resumed.body.events).toEqual(rows.slice(3));
    const kinds = await api.call('GET', `${path}?types=execution.started,execution.ended`);
    expect(kinds.body.events.map(({ type }: { type: string }) => type)).toEqual([
      'execution.started',
      'execution.ended',
    ]);
    const runs = [];
    for await (const { event } of runtime.client.events(thread, { as: 'run', follow: false }))
      runs.push(event);
    expect((await api.call('GET', `${path}?as=run&limit=1000`)).body.events).toEqual(runs);
    const unknown = await api.call('GET', `${path}?as=run&run=nowhere`, undefined, {
      accept: 'text/event-stream',
    });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'ExecutionNotFound' } });
    for (const format of ['sse', 'ndjson'] as const)
      for (const as of ['run', 'agenticx', 'story'] as const) {
        const all = [];
        for await (const each of runtime.client.events(thread, { as: as as 'run', follow: false }))
          all.push(each);
        const until = ({ event }: Told) => event === 'caught-up';
        const told = await readStream(`${api.url}${path}?as=${as}`, { format, until });
        expect(told[0]).toMatchObject({ event: 'begin', id: '0' });
        expect(rowsOf(told)).toEqual(all.map(({ event }) => event));
        expect(told.slice(1, -1).map(({ id }) => id)).toEqual(all.map(({ cursor }) => cursor));
        // The mark `caught-up` has the cursor of the last event.
        expect(told.at(-1)).toMatchObject({ event: 'caught-up', id: all.at(-1)?.cursor });
        const later = await readStream(`${api.url}${path}?as=${as}&after=${all.at(-1)?.cursor}`, {
          format,
          until,
        });
        expect(later.map(({ event }) => event)).toEqual(['begin', 'caught-up']);
      }
  });

  it('streams live from the cursor in the header, and ends with an end event once the thread is terminated', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('one'), says('two')]) });
    const api = await testApi(runtime);
    const thread = await runtime.start('hi');
    const { lastSeq } = await runtime.client.getThread(thread);
    const url = `${api.url}/v1/threads/${thread}/events`;
    let said = false;
    const told = await readStream(url, {
      format: 'sse',
      headers: { 'last-event-id': String(lastSeq) },
      async until({ event }) {
        if (event === 'caught-up' && !said) {
          said = true;
          await runtime.say(thread, 'more');
          await runtime.client.terminate(thread);
        }
        return event === 'end';
      },
    });
    const rows = rowsOf(told) as { seq: number; type: string }[];
    expect(rows[0]?.seq).toBe(lastSeq + 1);
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => lastSeq + 1 + n));
    expect(rows.at(-1)?.type).toBe('thread.terminated');
    expect(told.at(-1)).toMatchObject({ event: 'end', id: String(rows.at(-1)?.seq) });
    // A later reader receives the end of an ended log at once.
    const late = await readStream(`${url}?after=now`, {
      format: 'sse',
      until: ({ event }) => event === 'end',
    });
    expect(late.map(({ event }) => event)).toEqual(['begin', 'end']);
  });

  it('answers 204 to an EventSource that reconnects at the end of a log, and streams to one before it', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const { url } = await testApi(runtime);
    const thread = await runtime.start('hi');
    const open = async (query: string, id: string) => {
      const headers = { accept: 'text/event-stream', 'last-event-id': id };
      const answer = await fetch(`${url}/v1/threads/${thread}/events${query}`, { headers });
      await answer.body?.cancel();
      return answer.status;
    };
    const endOf = async (options: { as?: 'run' } = {}) => {
      const cursors: string[] = [];
      for await (const row of runtime.client.events(thread, { ...options, follow: false } as { as: 'run' }))
        cursors.push(String(row.cursor ?? (row as unknown as { seq: number }).seq));
      return cursors.at(-1) ?? '';
    };
    const [run] = await runtime.client.runs.list({ threadId: thread });
    const ended = await endOf({ as: 'run' });
    // The thread lives, so more may come; what ends with its execution is complete.
    expect(await open('', await endOf())).toBe(200);
    expect(await open(`?as=run&run=${run?.id}`, ended)).toBe(204);
    expect(await open(`?as=run&run=${run?.id}`, '0')).toBe(200);
    expect(await open('?follow=false', await endOf())).toBe(204);
    await runtime.client.terminate(thread);
    await runtime.client.waitForIdle(thread);
    expect(await open('', await endOf())).toBe(204);
    expect(await open('', '1')).toBe(200);
  });

  it('keeps a thread running when readers leave, ends streams without an end event on close, and limits them', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('one')]) });
    const api = await testApi(runtime, { streamsOfThread: 1 });
    const thread = await runtime.start();
    const url = `${api.url}/v1/threads/${thread}/events`;
    const first = await fetch(url, { headers: { accept: 'text/event-stream' } });
    const second = await api.call('GET', `/v1/threads/${thread}/events`, undefined, {
      accept: 'text/event-stream',
    });
    expect(second).toMatchObject({ status: 503, body: { code: 'TooManyStreams' } });
    await first.body?.cancel();
    const told = await readStream(url, {
      format: 'sse',
      // The first reader's slot is free as soon as the server has noticed that it left.
      again: ({ status }) => status === 503,
      async until({ event }) {
        if (event === 'caught-up') void api.close();
        return false;
      },
    });
    expect(told.map(({ event }) => event)).not.toContain('end');
    await runtime.say(thread, 'hi');
    expect(await runtime.transcript(thread)).toEqual(['user: hi', 'assistant: one']);
  });
});
