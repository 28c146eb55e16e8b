"""Words that invented notes are made of: names, streets, towns, and sentences with places for them."""

from __future__ import annotations

LISTED_FIRST = (
    "Anna", "Lukas", "Sophie", "Maximilian", "Katharina", "Jonas", "Friederike", "Thomas", "Andrea", "Stefan",
    "Camille", "Mathieu", "Élodie", "Guillaume", "Françoise", "Laurent", "Amélie", "Benoît", "Nathalie", "Julien",
    "Emily", "William", "Charlotte", "Benjamin", "Margaret", "Christopher", "Olivia", "Nathaniel", "Rebecca", "George",
)  # fmt: skip
"""First names that the list knows."""

LISTED_LAST = (
    "Müller", "Schmidt", "Hoffmann", "Klein", "Zimmermann", "Krüger", "Schulze", "Lehmann", "Richter", "Vogel",
    "Dubois", "Lefebvre", "Moreau", "Petit", "Rousseau", "Girard", "Bonnet", "Fournier", "Mercier", "Blanc",
    "Robertson", "Thompson", "Walker", "Mitchell", "Harrison", "Campbell", "Young", "Whitaker", "Sanders", "Brown",
    "von Hohenstein", "de la Tour", "O'Connor", "Meyer-Lindner",
)  # fmt: skip
"""Last names that the list knows, some of them common words, some of several parts."""

UNLISTED = (
    "Okonkwo", "Wójcik", "Hatzfeld", "Yıldırım", "Nakamura", "Brzeziński", "Adeyemi", "Kaltenegger", "Ngata", "Svoboda",
    "Quennell", "Trautwein", "Le Goff", "Ferrand", "Oduya", "Szymański", "Vanterpool", "Iliescu", "Thorne",
    "Rautenberg",
)  # fmt: skip
"""Names that no list knows."""

STREETS = {
    "de": ("Lindenstraße", "Goethestr.", "Am Alten Markt", "Kirchweg", "Karl-Liebknecht-Straße", "Rosenallee",
           "Berliner Ring", "An der Mühle", "Schlossplatz", "Bahnhofstrasse", "Im Wiesengrund", "Unter den Eichen"),
    "fr": ("rue Victor Hugo", "avenue de la République", "bd Saint-Michel", "place du Marché", "impasse des Lilas",
           "chemin de la Croix", "rue du Général de Gaulle", "quai d'Orsay", "allée des Tilleuls", "route de Lyon"),
    "en": ("High Street", "Church Road", "Station Rd", "Victoria Avenue", "Mill Lane", "Elm Drive", "Kings Court",
           "The Crescent", "Queen's Way", "Oak Hill", "North Main St.", "5th Avenue"),
}  # fmt: skip
"""Streets, by language."""

TOWNS = {
    "de": (("04109", "Leipzig"), ("50667", "Köln"), ("80331", "München"), ("60311", "Frankfurt am Main"),
           ("37073", "Göttingen"), ("01067", "Dresden")),
    "fr": (("69002", "Lyon"), ("75011", "Paris"), ("13001", "Marseille"), ("67000", "Strasbourg"),
           ("35000", "Rennes"), ("06000", "Nice")),
    "en": (("LS1 4AP", "Leeds"), ("SW1A 1AA", "London"), ("M13 9PL", "Manchester"), ("97201", "Portland, OR"),
           ("02139", "Cambridge, MA"), ("EH8 9YL", "Edinburgh")),
}  # fmt: skip
"""Postcodes and towns, by language."""

TITLES = {
    "de": ("Frau", "Herr", "Dr.", "Fr.", "Prof. Dr.", "Herrn", "Schwester"),
    "fr": ("Mme", "M.", "Dr", "Madame", "Monsieur", "Pr"),
    "en": ("Mr", "Mrs.", "Dr", "Ms", "Nurse", "Miss"),
}  # fmt: skip
"""What stands before a name, by language."""

SENTENCES = {
    "de": (
        "Pat. {person} stellte sich {date} in der Notaufnahme vor.",
        "Anamnese erhoben mit {person}, geb. {date}, wohnhaft {address}.",
        "Rückruf an {relative} erbeten, erreichbar {phone}.",
        "Befund bitte an {mail} schicken; Kopie an {relative}.",
        "Die Tochter ({relative}, Tel. {phone}) wurde informiert.",
        "Verlegung am {date} nach Rücksprache mit {titled}.",
        "Umgezogen, neue Anschrift: {address}.",
        "Vers.-Daten: {number}, Bankverbindung {iban}.",
        "Wundkontrolle {date}: reizlos. {person} ist zufrieden.",
        "Laut {titled} seit {date} beschwerdefrei.",
        "{person}s Medikation wurde umgestellt.",
        "Zuzahlung mit Karte {card} beglichen, Quittung an {mail}.",
        "Terminbuchung über {url}, sonst {phone}.",
        "Steuer-/Sozialdaten des Patienten: {number}.",
        "Begleitperson {unlisted} wartet auf Station 3B.",
    ),
    "fr": (
        "Patient(e) {person} admis(e) le {date} aux urgences.",
        "Né(e) le {date}, demeurant {address}.",
        "Prévenir {relative} au {phone}.",
        "Compte rendu envoyé à {mail}, copie à {titled}.",
        "Vu(e) par {titled} le {date}, pas de fièvre.",
        "Numéro communiqué : {number}.",
        "Remboursement sur le compte {iban}.",
        "L'épouse, {relative}, habite {address}.",
        "Rendez-vous pris sur {url} pour {date}.",
        "Réglé par carte {card}.",
        "Accompagné(e) par {unlisted}, un voisin.",
        "Depuis {date}, {person} dort mieux.",
    ),
    "en": (
        "{person} was seen on {date} with chest pain.",
        "DOB {date}, lives at {address}.",
        "Please ring {relative} on {phone} before discharge.",
        "Letter sent to {mail}; cc {titled}.",
        "Reviewed by {titled} on {date}, afebrile.",
        "Identifier on file: {number}.",
        "Refund to {iban}.",
        "Moved in with {relative} at {address}.",
        "{person}'s results are on {url}.",
        "Paid by card {card} on {date}.",
        "Neighbour {unlisted} brought the patient in.",
        "Next visit {date}; contact {phone}.",
    ),
}  # fmt: skip
"""Sentences with something planted, by language."""

PLAIN = {
    "de": (
        "RR 135/85 mmHg, Puls 72, Temp. 37,4 °C.", "Leukozyten 11200/µl, CRP 4,5 mg/l, HbA1c 6,8 %.",
        "Ibuprofen 600 mg 1-0-1 für 10 Tage.", "Allgemeinzustand gut, kein Anhalt für Pneumonie.",
        "Im Alter von 54 Jahren Appendektomie.", "Zwei kleine Läsionen am linken Unterarm, 3 x 4 cm.",
        "Kontrolle in 14 Tagen, Station 12, Zimmer 204.",
        "Seit 2019 bekannte Hypertonie, raucht 20 Zigaretten täglich.",
        "Der jüngere Bruder leidet an Asthma.", "GFR 58 ml/min, Kalium 3.5, Natrium 141 mmol/l.",
        "ICD I10.90, OPS 5-470.11, Fall abgeschlossen.", "Vogelgrippe ausgeschlossen, Richterskala der Schmerzen 4/10.",
    ),
    "fr": (
        "TA 130/80, pouls 68, saturation 98 %.", "Paracétamol 1 g trois fois par jour pendant 5 jours.",
        "Petit hématome blanc au bras gauche, 2 cm.", "Glycémie 1,12 g/l, créatinine 88 µmol/l.",
        "Pas d'allergie connue, non fumeur depuis 2015.", "Chambre 312, service de cardiologie, lit 2.",
        "Bonne évolution, sortie prévue la semaine prochaine.", "IRM du genou sans particularité, voir annexe 4.",
    ),
    "en": (
        "BP 128/76, HR 64, sats 97% on air.", "Amoxicillin 500 mg three times a day for 7 days.",
        "A young patient with brown discolouration, 2 x 3 cm.", "WBC 11.2, CRP 14, eGFR 58, sodium 141.",
        "No known allergies; quit smoking in 2012.", "Ward 7, bed 12, plan unchanged.",
        "May need physiotherapy; can walk 200 yards.", "Pain 4/10 at rest, 7/10 on movement, see page 3.",
    ),
}  # fmt: skip
"""Sentences in which nothing is planted, some with numbers and words that mislead."""
