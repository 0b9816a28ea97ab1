/**
 * A long list of which only the part in view is in the document, between two spacers.
 * - Heights are estimated until an item has been shown, then measured.
 * - What the reader looks at stays where it is when something above it is added or changes its height; at the end of the
 *   list, the reader stays at the end.
 */
import { Component, type ComponentChildren, createRef } from 'preact';

export interface WindowedProps<T extends { readonly key: string }> {
  readonly items: readonly T[];
  readonly render: (item: T) => ComponentChildren;
  readonly label: string;
  /** Pixels of an item that has not been measured. */
  readonly estimate: number;
  /** Stay at the end while items are added. */
  readonly follow?: boolean;
  readonly onTop?: () => void;
}

/** Pixels above and below the view that are shown, too. */
const MARGIN = 200;
/** Most items in the document, however small they are. */
const MOST = 80;
/** Pixels from the end within which a reader is at the end. */
const AT_END = 40;

interface View {
  readonly top: number;
  readonly height: number;
}

export class Windowed<T extends { readonly key: string }> extends Component<WindowedProps<T>, View> {
  override state: View = { top: 0, height: 800 };
  readonly #scroller = createRef<HTMLDivElement>();
  readonly #list = createRef<HTMLDivElement>();
  readonly #heights = new Map<string, number>();
  #resized: ResizeObserver | undefined;
  #atEnd = this.props.follow === true;
  #anchor: { readonly key: string; readonly below: number } | null = null;
  #shown: { readonly first: number; readonly last: number } = { first: 0, last: 0 };

  override componentDidMount(): void {
    this.#resized = new ResizeObserver(() => this.#look());
    if (this.#scroller.current) this.#resized.observe(this.#scroller.current);
    this.#settle();
  }

  override componentDidUpdate(): void {
    this.#settle();
  }

  override componentWillUnmount(): void {
    this.#resized?.disconnect();
  }

  /** Measures what is shown, and puts the reader back to where they were. */
  #settle(): void {
    const [scroller, list] = [this.#scroller.current, this.#list.current];
    if (!scroller || !list) return;
    let changed = false;
    for (const [index, element] of [...list.children].entries()) {
      const key = this.props.items[this.#shown.first + index]?.key ?? '';
      const height = (element as HTMLElement).offsetHeight;
      changed ||= this.#heights.get(key) !== height;
      this.#heights.set(key, height);
    }
    if (this.#atEnd) scroller.scrollTop = scroller.scrollHeight;
    else if (this.#anchor) {
      const top = this.#topOf(this.#anchor.key);
      if (top !== null && Math.abs(top - this.#anchor.below - scroller.scrollTop) > 1)
        scroller.scrollTop = top - this.#anchor.below;
    }
    if (changed) this.#look();
  }

  #heightOf = ({ key }: T): number => this.#heights.get(key) ?? this.props.estimate;

  #topOf(key: string): number | null {
    let top = 0;
    for (const item of this.props.items) {
      if (item.key === key) return top;
      top += this.#heightOf(item);
    }
    return null;
  }

  #look(): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    const { scrollTop: top, clientHeight: height } = scroller;
    if (top !== this.state.top || height !== this.state.height) this.setState({ top, height });
    else this.forceUpdateOnce();
  }

  /** The heights have changed: the part in view may be another one. */
  forceUpdateOnce(): void {
    const { first, last } = this.#find();
    if (first !== this.#shown.first || last !== this.#shown.last) this.forceUpdate();
  }

  #onScroll = (): void => {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    this.#atEnd = this.props.follow === true && scrollHeight - scrollTop - clientHeight < AT_END;
    let top = 0;
    for (const item of this.props.items) {
      const next = top + this.#heightOf(item);
      if (next > scrollTop) {
        this.#anchor = { key: item.key, below: top - scrollTop };
        break;
      }
      top = next;
    }
    if (scrollTop < MARGIN) this.props.onTop?.();
    this.#look();
  };

  #find(): { readonly first: number; readonly last: number; readonly above: number; readonly below: number } {
    const { items } = this.props;
    const { height } = this.state;
    const total = items.reduce((sum, item) => sum + this.#heightOf(item), 0);
    const top = this.#atEnd ? Math.max(0, total - height) : this.state.top;
    let [first, above] = [0, 0];
    while (first < items.length && above + this.#heightOf(items[first] as T) < top - MARGIN) {
      above += this.#heightOf(items[first] as T);
      first += 1;
    }
    let [last, end] = [first, above];
    while (last < items.length && end < top + height + MARGIN && last - first < MOST) {
      end += this.#heightOf(items[last] as T);
      last += 1;
    }
    return { first, last, above, below: Math.max(0, total - end) };
  }

  override render({ items, render, label }: WindowedProps<T>) {
    const { first, last, above, below } = this.#find();
    this.#shown = { first, last };
    return (
      <div
        class="scroller"
        ref={this.#scroller}
        onScroll={this.#onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
      >
        <div style={{ height: `${above}px` }} />
        <div class="items" ref={this.#list}>
          {items.slice(first, last).map((item) => (
            <div key={item.key} class="item">
              {render(item)}
            </div>
          ))}
        </div>
        <div style={{ height: `${below}px` }} />
      </div>
    );
  }
}
