/** A hidden page has no stream: browsers allow six connections to a server for all tabs. */

/** Milliseconds for which a page is hidden before its stream ends. */
const HIDDEN_MS = 5000;

/** Resolves once the page can be seen, or with `closed`. */
export async function whenVisible(closed: AbortSignal): Promise<void> {
  while (document.hidden && !closed.aborted)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

/** Aborts once the page has been hidden for a while. */
export function abortWhenHidden(): { readonly signal: AbortSignal; stop(): void } {
  const hidden = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => hidden.abort(), HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', look);
  look();
  return {
    signal: hidden.signal,
    stop() {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    },
  };
}
