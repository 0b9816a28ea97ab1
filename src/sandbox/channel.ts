/**
 * One end of the channel between host and child: frames over a socket. Messages that follow the first in one turn of
 * the event loop are written together; what is read in one turn is bounded, so that a flood from one side
 * never keeps the other from its own work.
 */
import type { Socket } from 'node:net';
import type { Wire } from './codec/wire.ts';
import { createFrameReader, encodeFrame, type Frame, type FrameReader } from './frame.ts';
import { createMessageBatcher } from './message-batcher.ts';

export interface Channel {
  /** May wait for the end of the turn, so that others go with it. */
  post(head: object, wire?: Wire): void;
  /** The message, and whatever was posted before it, now. */
  send(head: object, wire?: Wire): void;
  /** Nothing is read any more. */
  close(): void;
}

export interface ChannelEvents {
  onFrame(frame: Frame): void;
  /** What came is no frame, or was refused by `onFrame`: nothing is read after it. */
  onFault(why: string): void;
}

const FRAMES_A_TURN = 512;
const BYTES_A_TURN = 2 * 1024 * 1024;
const FEW_FRAMES = 32;
const FEW_BYTES = 128 * 1024;
/** Larger batches are written part by part instead of being copied into one. */
const JOINED = 256 * 1024;

export function openChannel(socket: Socket, events: ChannelEvents, longest?: number): Channel {
  const reading = new Reading(socket, events, longest);
  const batcher = createMessageBatcher<Uint8Array>((parts) => write(socket, parts));
  socket.on('data', (chunk: Uint8Array) => reading.take(chunk));
  // A side that has just died cannot be told anything; its end is about to be told otherwise.
  socket.on('error', () => undefined);
  return {
    post: (head, wire) => batcher.post(...encodeFrame(head, wire)),
    send: (head, wire) => batcher.send(...encodeFrame(head, wire)),
    close: () => reading.close(),
  };
}

/** What has come, and how much of it was read in this turn of the event loop. */
class Reading {
  readonly #socket: Socket;
  readonly #events: ChannelEvents;
  readonly #reader: FrameReader;
  #closed = false;
  #turn = { frames: 0, bytes: 0, ends: false };

  constructor(socket: Socket, events: ChannelEvents, longest?: number) {
    this.#socket = socket;
    this.#events = events;
    this.#reader = createFrameReader(longest);
  }

  take(chunk: Uint8Array): void {
    if (this.#closed) return;
    this.#reader.push(chunk);
    this.#turn.bytes += chunk.byteLength;
    // A turn of its own is worth it only where much comes; until then the counts go on from turn to turn.
    if (this.#turn.frames >= FEW_FRAMES || this.#turn.bytes >= FEW_BYTES) this.#endLater();
    this.#read();
  }

  close(): void {
    this.#closed = true;
    // Else what it still wrote would keep it open.
    this.#socket.destroy();
  }

  #read(): void {
    try {
      this.#readFrames();
    } catch (error) {
      this.close();
      this.#events.onFault(error instanceof Error ? error.message : 'what cannot be read');
      return;
    }
    if (this.#isSpent()) {
      this.#socket.pause();
      this.#endLater();
      return;
    }
    // Resuming a stream that flows would cost a turn of the stream's own each time.
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  #readFrames(): void {
    while (!this.#closed && !this.#isSpent()) {
      const frame = this.#reader.next();
      if (!frame) return;
      this.#turn.frames += 1;
      this.#events.onFrame(frame);
    }
  }

  #isSpent(): boolean {
    return this.#turn.frames >= FRAMES_A_TURN || this.#turn.bytes >= BYTES_A_TURN;
  }

  #endLater(): void {
    if (!this.#turn.ends) setImmediate(() => this.#endTurn());
    this.#turn.ends = true;
  }

  #endTurn(): void {
    this.#turn = { frames: 0, bytes: 0, ends: false };
    if (!this.#closed) this.#read();
  }
}

function write(socket: Socket, parts: readonly Uint8Array[]): void {
  if (socket.destroyed || !socket.writable) return;
  const size = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (parts.length === 1) socket.write(parts[0] as Uint8Array);
  else if (size > JOINED) {
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
  } else {
    socket.write(Buffer.concat(parts));
  }
}
