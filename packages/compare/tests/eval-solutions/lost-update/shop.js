/** A shop whose stock is in a store with asynchronous `get` and `set`. */
export class Shop {
  #last = new Map();

  constructor(store) {
    this.store = store;
  }

  /** Takes some pieces of an article from the stock; returns false if there are not enough. */
  order(article, pieces) {
    const before = this.#last.get(article) ?? Promise.resolve();
    const order = before.catch(() => {}).then(() => this.#take(article, pieces));
    this.#last.set(article, order);
    return order;
  }

  async #take(article, pieces) {
    const stock = await this.store.get(article);
    if (stock < pieces) return false;
    await this.store.set(article, stock - pieces);
    return true;
  }
}
